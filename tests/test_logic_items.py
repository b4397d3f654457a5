"""Logical items: a prover that reads only the text agrees with all, they are balanced, and shallow readers fail."""

import json
import re
from collections import Counter, deque
from functools import cache

import numpy as np
import pytest
from logic_text import decision, opposite, read
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import matthews_corrcoef
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from bench.logic import fol_inference, multi_hop
from labeling.axioms import negation, published, repaired

FAMILIES = {"fol_inference": fol_inference, "multi_hop": multi_hop}
HOPS = {"fol_inference": {1, 2, 3}, "multi_hop": {2, 3, 4, 5, 6}}
NAMES = {
    "lorenz63": "the Lorenz system", "rossler": "the Rössler system", "henon": "the Hénon map",
    "chen": "the Chen system", "vdp": "the Van der Pol oscillator", "ikeda_map": "the Ikeda map",
    "baker": "the baker's map", "double_pendulum": "the double pendulum",
    "mackey_glass": "the Mackey-Glass equation", "circle_map": "the circle map",
}  # fmt: skip
TRUE_IF = {"follows": "entailed", "ruled_out": "refuted", "open": "neither"}
COUNT = 5040  # of fol_inference 35 cycles of 12 in each of its 12 cells; of multi_hop 21 in each of its 20
LIMIT = 0.10


@cache
def items(family):
    return FAMILIES[family](COUNT, 7, NAMES)


@cache
def texts(family):
    return [read(item["question"]) for item in items(family)]


@pytest.fixture(params=FAMILIES)
def family(request):
    return request.param


def test_a_prover_that_sees_only_the_text_agrees(family):
    for item, text in zip(items(family)[:3000], texts(family), strict=False):
        assert (decision(text), text.form) == (item["gold3"], item["form"])
        assert (item["ground_truth"] == "TRUE") == (TRUE_IF[text.form] == decision(text))


def test_true_and_gold_are_balanced(family):
    rows = items(family)
    assert {item["hops"] for item in rows} == HOPS[family]
    cells = Counter((i["form"], i["hops"], i["polarity"], i["axioms"], i["ground_truth"]) for i in rows)
    golds = Counter((i["hops"], i["polarity"], i["axioms"], i["gold3"]) for i in rows)
    assert len(cells) == 3 * len(HOPS[family]) * 2 * 2 * 2
    assert len(set(cells.values())) == 1
    assert len(golds) == len(HOPS[family]) * 2 * 2 * 3
    assert len(set(golds.values())) == 1


def test_names_and_predicates_are_as_often_true_as_false(family):
    surplus, asked = Counter(), Counter()
    for item in items(family):
        sign = 1 if item["ground_truth"] == "TRUE" else -1
        for key in (item["system_id"], (item["predicate"], item["polarity"])):
            surplus[key] += sign
            asked[key] += 1
    assert all(abs(surplus[name]) <= 0.02 * asked[name] for name in NAMES)
    assert all(abs(surplus[key]) <= 0.1 * asked[key] for key in asked if asked[key] >= 50)  # 45 to 55 %


@pytest.mark.parametrize("count", [0, 1, 2, 7, 150, 251])
def test_what_is_left_over_is_balanced_too(family, count):
    rows = FAMILIES[family](count, 3, NAMES)
    assert len(rows) == count
    cells = Counter()
    for item in rows:
        sign = 1 if item["ground_truth"] == "TRUE" else -1
        cells[item["form"], item["hops"], item["polarity"], item["axioms"]] += sign
    assert sum(map(abs, cells.values())) == count % 2


def test_the_same_seed_gives_the_same_bytes_and_another_gives_others(family):
    once, again, other = (json.dumps(FAMILIES[family](120, seed, NAMES)) for seed in (5, 5, 6))
    assert once == again
    asked = [{item["question"] for item in json.loads(text)} for text in (once, other)]
    assert not asked[0] & asked[1]


def test_no_two_questions_are_equal(family):
    assert len({item["question"] for item in items(family)}) == COUNT


def test_chinese_items_have_the_structure_of_the_english_ones(family):
    english, chinese = FAMILIES[family](240, 9, NAMES), FAMILIES[family](240, 9, NAMES, lang="zh")
    for one, other in zip(english, chinese, strict=True):
        same = {key: value for key, value in one.items() if key not in ("question", "lang")}
        assert same == {key: value for key, value in other.items() if key not in ("question", "lang")}
        assert one["question"].count("\n- ") == other["question"].count("\n- ")
        assert not re.search(r"[{}]", one["question"] + other["question"])
        words = set(re.findall(r"[A-Za-z]+", other["question"].replace(NAMES[one["system_id"]], "")))
        assert words <= {"TRUE", "FALSE", "A", "B", "C", "D", "E", "F"}


def test_rules_are_axioms_of_the_named_system_and_hops_go_through_them(family):
    known = {"published": {a.id for a in published()}, "repaired": {a.id for a in repaired()}}
    for item in items(family):
        assert set(item["rules"]) <= known[item["axioms"]]
        assert len(set(item["rules"])) == len(item["rules"])


def split(literal):
    name, who = re.fullmatch(r"(~?\w+)(?:\((\w)\))?", literal).groups()
    return who, name


def test_proofs_check_step_by_step_and_are_the_shortest(family):
    axioms = {"published": published(), "repaired": repaired()}
    for item, text in zip(items(family), texts(family), strict=True):
        if item["gold3"] == "neither":
            continue
        proof, holds = item["evidence"], set(item["premises"])
        for start, rule, end in proof:
            assert start in holds
            if rule == "link":
                links = [(split(a), split(b)) for a, b in item["links"]]
                back = [((w2, negation(b)), (w1, negation(a))) for (w1, a), (w2, b) in links]
                assert (split(start), split(end)) in links + back
            else:
                assert rule in item["rules"]
                (axiom,) = [a for a in axioms[item["axioms"]] if a.id == rule]
                (who, a), (same, b) = split(start), split(end)
                assert who == same
                assert (a, b) in [
                    (axiom.premise, axiom.conclusion), (negation(axiom.conclusion), negation(axiom.premise))
                ]  # fmt: skip
            holds.add(end)
        wanted = item["goal"] if item["gold3"] == "entailed" else negation(item["goal"])
        assert proof[-1][2] == wanted
        goal = text.goal if item["gold3"] == "entailed" else opposite(text.goal)
        assert len(proof) == item["hops"] == distances(text, text.premises, both_ways=False)[goal]


def test_models_of_open_goals_satisfy_what_is_stated_and_differ_on_the_goal(family):
    for item, text in zip(items(family), texts(family), strict=True):
        if item["gold3"] != "neither":
            continue
        for model, goal in zip(item["evidence"], (item["goal"], negation(item["goal"])), strict=True):
            atoms = [split(literal) for literal in model]
            holds = {(who, name.removeprefix("~")): not name.startswith("~") for who, name in atoms}
            assert len(holds) == len(model)
            assert goal in model
            assert set(item["premises"]) <= set(model)
            named = {f"system {who}" if who else NAMES[item["system_id"]]: who for who, _ in holds}
            assert set(named) == set(text.systems)
            for (who, p, p_holds), (other, q, q_holds) in text.arrows:
                assert holds[named[who], p] != p_holds or holds[named[other], q] == q_holds


def test_a_couple_is_the_same_statements_and_a_goal_and_its_negation(family):
    couples = {}
    for item in items(family):
        if item["pair"]:
            couples.setdefault(item["pair"], {})[item["role"]] = item
    assert len(couples) == COUNT // 4
    assert len({item["group"] for item in items(family)}) == COUNT - len(couples)
    golds = Counter()
    for couple in couples.values():
        phi, other = couple["phi"], couple["not_phi"]
        assert [phi[key] for key in ("premises", "links", "rules", "goal")] == [
            other[key] for key in ("premises", "links", "rules", "goal")
        ]
        assert (phi["form"], other["form"], phi["negates"], other["negates"]) == (
            "follows",
            "ruled_out",
            None,
            "hypothesis",
        )
        assert not (phi["ground_truth"] == other["ground_truth"] == "TRUE")
        golds[phi["gold3"]] += 1
    assert len(set(golds.values())) == 1


def test_bad_arguments_are_refused_by_name(family):
    with pytest.raises(ValueError, match="'hearsay'"):
        FAMILIES[family](1, 0, NAMES, axioms=["hearsay"])
    with pytest.raises(ValueError, match=r"'la'.*en, zh"):
        FAMILIES[family](1, 0, NAMES, lang="la")
    with pytest.raises(ValueError, match="a name"):
        FAMILIES[family](1, 0, {})


# Readers that take a short cut. Each guesses what the statements decide from part of the text.


def distances(text, starts, both_ways):
    steps = {}
    for a, b in text.arrows:
        for start, end in ((a, b), (opposite(b), opposite(a))):
            steps.setdefault(start, []).append(end)
            if both_ways:
                steps.setdefault(end, []).append(start)
    found, queue = dict.fromkeys(starts, 0), deque(starts)
    while queue:
        fact = queue.popleft()
        for end in steps.get(fact, []):
            if end not in found:
                found[end] = found[fact] + 1
                queue.append(end)
    return found


def sided(yes, no):
    return "entailed" if yes > no else "refuted" if no > yes else "neither"


def goal_in_conclusions(text):
    concluded = [end[1:] for _, end in text.arrows]
    return sided(concluded.count(text.goal[1:]), concluded.count(opposite(text.goal)[1:]))


def conclusions_of_stated_premises(text):
    """Rules that conclude the goal from a predicate of which some premise, about any system, says that it holds."""
    said = {fact[1:] for fact in text.premises}
    chosen = [b for a, b in text.rules if a in said]
    return sided(chosen.count(text.goal[1:]), chosen.count(opposite(text.goal)[1:]))


def last_rule(text):
    ends = [b for _, b in text.rules if b[0] == text.goal[1]]
    return "neither" if not ends else "entailed" if ends[-1] == text.goal[1:] else "refuted"


def last_statement_about_the_goal(text):
    about = [(a[1:], b[1:]) for a, b in text.links] + text.rules
    ends = [b if b[0] == text.goal[1] else opposite(a) for a, b in about if text.goal[1] in (a[0], b[0])]
    return "entailed" if ends[-1] == text.goal[1:] else "refuted"


def nearest_both_ways(text):
    """Premises joined to the goal by rules followed in either direction; the nearest one tells."""
    found = distances(text, text.premises, both_ways=True)
    return sided(-found.get(text.goal, 99), -found.get(opposite(text.goal), 99))


def votes_both_ways(text):
    found = [distances(text, [fact], both_ways=True) for fact in text.premises]
    return sided(sum(text.goal in one for one in found), sum(opposite(text.goal) in one for one in found))


def first_premise_both_ways(text):
    for fact in text.premises:
        found = distances(text, [fact], both_ways=True)
        yes, no = found.get(text.goal, 99), found.get(opposite(text.goal), 99)
        if yes != no:
            return sided(-yes, -no)
    return "neither"


def affirmed_premises_both_ways(text):
    found = [distances(text, [fact], both_ways=True) for fact in text.premises if fact[2]]
    yes, no = (min([99, *(one[end] for one in found if end in one)]) for end in (text.goal, opposite(text.goal)))
    return sided(-yes, -no)


def joined_at_all(text):
    found = {fact[:2] for fact in distances(text, text.premises, both_ways=True)}
    return "entailed" if text.goal[:2] in found else "neither"


def names_ignored(text):
    """Proof by the rules, as if all that is said were about one system."""
    alone = text._replace(
        premises=[("it", *fact[1:]) for fact in text.premises],
        links=[(("it", *a[1:]), ("it", *b[1:])) for a, b in text.links],
        goal=("it", *text.goal[1:]),
    )
    found = distances(alone, alone.premises, both_ways=False)
    return sided(alone.goal in found, opposite(alone.goal) in found)


def more_affirmed(text):
    own = {who for who, _, _ in [a for a, _ in text.links]} or {text.goal[0]}
    signs = [holds for who, _, holds in text.premises if who in own]
    return sided(signs.count(text.goal[2]), signs.count(not text.goal[2]))


READERS = [
    goal_in_conclusions, conclusions_of_stated_premises, last_rule, last_statement_about_the_goal, nearest_both_ways,
    votes_both_ways, first_premise_both_ways, affirmed_premises_both_ways, joined_at_all, names_ignored, more_affirmed,
]  # fmt: skip


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_who_takes_a_short_cut_gets_nowhere(family, reader):
    said = [TRUE_IF[text.form] == reader(text) for text in texts(family)]
    assert abs(matthews_corrcoef(truth(family), said)) <= LIMIT


def truth(family):
    return np.array([item["ground_truth"] == "TRUE" for item in items(family)])


def learnt(family, model, x):
    groups = [item["system_id"] for item in items(family)]
    said = cross_val_predict(model, x, truth(family), groups=groups, cv=GroupKFold(5))
    return abs(matthews_corrcoef(truth(family), said))


def test_counts_do_not_tell_the_answer(family):
    counted = [
        [
            len(item["question"]), len(text.premises), len(text.links), len(text.rules),
            sum(b[1] for _, b in text.rules), sum(not a[1] for a, _ in text.rules),
            sum(not fact[2] for fact in text.premises), item["question"].count(" not "), item["hops"],
            text.premises.index(min(text.premises)), *(text.form == form for form in TRUE_IF),
            *((text.form == form) * sum(not fact[2] for fact in text.premises) for form in TRUE_IF),
        ]
        for item, text in zip(items(family), texts(family), strict=True)
    ]  # fmt: skip
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    assert learnt(family, model, np.array(counted, dtype=float)) <= LIMIT


def test_what_is_asked_does_not_tell_the_answer(family):
    """Form, predicate and polarity, alone and all in one."""
    asked = [[t.form, t.goal[1], str(t.goal[2]), f"{t.form} {t.goal[1:]}"] for t in texts(family)]
    assert learnt(family, make_pipeline(OneHotEncoder(), LogisticRegression(max_iter=1000)), np.array(asked)) <= LIMIT


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2)])
def test_a_masked_bag_of_words_does_not_tell_the_answer(family, ngrams):
    masked = np.array([item["question"].replace(NAMES[item["system_id"]], "it") for item in items(family)])
    model = make_pipeline(
        CountVectorizer(ngram_range=ngrams, min_df=5),
        StandardScaler(with_mean=False),
        LogisticRegression(C=0.01, max_iter=300),
    )
    assert learnt(family, model, masked) <= LIMIT
