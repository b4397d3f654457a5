"""Models, by Inspect's providers: found, tried with one question, and what goes wrong in one sentence."""

import hashlib
import os
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

SECRET = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$")
HIDDEN = "(hidden)"
SHORTEST = 6  # characters of a key: shorter ones occur in any text
MOCK = "mockllm"
TOP = 20  # log-probabilities of a token: more than any provider gives
WAIT = 8.0  # seconds for the one question before a run, if nothing shows that the server is there
NEEDS = "`pip install 'chaostruth[eval]'` installs what this needs"
REFUSED = (400, 404, 422)  # HTTP: of these the server said what it does not accept


class ModelError(ValueError):
    """Why a model cannot be asked, and what to do, in one sentence."""


@dataclass(frozen=True)
class Decoding:
    """How replies are drawn; `temperature` is null where the model accepts none."""

    max_tokens: int
    temperature: float | None
    logprobs: bool

    def arguments(self) -> dict[str, Any]:
        """As Inspect names them."""
        likely = {"logprobs": True, "top_logprobs": TOP} if self.logprobs else {}
        warm = {} if self.temperature is None else {"temperature": self.temperature}
        return {"max_tokens": self.max_tokens} | warm | likely


def model_called(name: str, base_url: str | None) -> Any:
    """Inspect's model; behind a base URL is a server that speaks OpenAI's protocol, which may need no key."""
    try:
        from inspect_ai._util.error import PrerequisiteError
        from inspect_ai.model import get_model
    except ImportError as error:
        raise ModelError(f"{NEEDS} ({error})") from None
    provider, slash, rest = name.partition("/")
    if not (provider and slash and rest):
        raise ModelError(f"--model {name}: PROVIDER/NAME is needed, such as openai/gpt-4o or ollama/llama3.1")
    if provider == MOCK:
        return get_model(f"{MOCK}/{rest}", custom_outputs=_coin, memoize=False)
    given: dict[str, Any] = {}
    if base_url is not None:
        if not re.match(r"https?://[^/]", base_url):
            raise ModelError(f"--base-url {base_url}: an address such as http://127.0.0.1:8000/v1 is needed")
        key = f"{provider.upper().replace('-', '_')}_API_KEY"
        given = {"base_url": base_url, "api_key": os.environ.get(key) or "none"}
        name = name if provider == "openai-api" else f"openai-api/{name}"
    try:
        return get_model(name, memoize=False, **given)
    except PrerequisiteError as error:
        told = _sentence(error.message).removeprefix("ERROR: ")
        raise ModelError(f"--model {name}: {told}; keys are read from the environment only") from None
    except (ValueError, ImportError) as error:
        raise ModelError(f"--model {name}: {_sentence(error)}; `inspect list models` and docs/evaluation.md tell what "
                         f"providers there are") from None  # fmt: skip


def _coin(messages: Any, *_: Any) -> Any:
    """The mock's reply: TRUE or FALSE by a digest of the text, which knows nothing, with log-probabilities."""
    from inspect_ai.model import Logprob, Logprobs, ModelOutput, ModelUsage, TopLogprob

    text = messages[-1].text
    p = hashlib.sha256(text.encode()).digest()[0]
    said = "TRUE" if p < 128 else "FALSE"
    likely = [TopLogprob(token=said, logprob=-0.25), TopLogprob(token="FALSE" if p < 128 else "TRUE", logprob=-1.5)]
    made = ModelOutput.from_content(MOCK, said)
    made.choices[0].logprobs = Logprobs(content=[Logprob(token=said, logprob=-0.25, top_logprobs=likely)])
    made.usage = ModelUsage(input_tokens=len(text) // 4, output_tokens=1, total_tokens=len(text) // 4 + 1)
    return made


def tried(called: Callable[[], Any], decoding: Decoding, demanded: bool, wait: float = WAIT) -> Decoding:
    """The decoding that a model accepts, found by one question each; the temperature gives way before the run does.

    called : gives the model anew, since each question is asked in an event loop that ends with it
    demanded : log-probabilities must come; else they are left out where none do
    wait : seconds for a reply of a server that is there, which may have to load its model first
    """
    model = called()
    wanted = [decoding]
    if decoding.temperature is not None:
        wanted.append(replace(decoding, temperature=None))
    if not demanded:
        wanted += [replace(one, logprobs=False) for one in wanted]
    output, errors = None, []
    for one in wanted:
        found = _asked(called(), one, WAIT)
        if isinstance(found, TimeoutError) and listens(model):
            found = _asked(called(), one, wait)
        if not isinstance(found, Exception) and not _error(found):
            output, decoding = found, one
            break
        errors.append(found)
        if isinstance(found, Exception) and _status(found) not in REFUSED and not isinstance(found, ValueError):
            break
        if isinstance(found, Exception) and _status(found) == 404:
            break
    if output is None:
        raise ModelError(_why(model, errors[0], demanded, wait))
    came = bool(output.choices and output.choices[0].logprobs and output.choices[0].logprobs.content)
    if demanded and not came:
        raise ModelError(f"{model} gives no log-probabilities; leave out --logprobs, and have CUC from samples by "
                         "--epochs 10")  # fmt: skip
    return replace(decoding, logprobs=decoding.logprobs and came)


def listens(model: Any) -> bool:
    """Whether something takes calls at the address of a model's server."""
    try:
        address = urlsplit(getattr(model.api, "base_url", None) or "")
        port = address.port or {"http": 80, "https": 443}[address.scheme]
        with socket.create_connection((address.hostname, port), timeout=1.0):
            return True
    except (OSError, ValueError, KeyError):
        return False


def _asked(model: Any, decoding: Decoding, wait: float) -> Any:
    """The output, or the error."""
    import anyio
    from inspect_ai.model import GenerateConfig

    async def ask() -> Any:
        with anyio.fail_after(wait):
            async with model:
                return await model.generate(
                    "Is 2 an even number? Answer TRUE or FALSE.",
                    config=GenerateConfig(**decoding.arguments(), max_retries=0),
                )

    try:
        return anyio.run(ask)
    except Exception as error:  # noqa: BLE001 - each provider has errors of its own, and each becomes a sentence
        return cause(error)


def _error(output: Any) -> str | None:
    return output.error or (None if output.choices else "it sent no reply")


def _status(error: BaseException) -> int | None:
    return getattr(error, "status_code", None)


def _why(model: Any, found: Any, demanded: bool, wait: float) -> str:
    """Why one question had no reply, and what to do."""
    where = getattr(model.api, "base_url", None)
    server = f"the server at {where}" if where else "the provider"
    if not isinstance(found, Exception):
        return f"{model}: {server} sent no reply: {redacted(str(_error(found)))}"
    status, said = _status(found), failure(found)
    if status in (401, 403):
        return f"{model}: {server} refuses the key in the environment ({status}); set the right one: {said}"
    if status == 404:
        return f"{model}: {server} knows no such model, or the address is not that of its API ({status}): {said}"
    if status == 429:
        return f"{model}: {server} has no quota for this key now ({status}): {said}"
    if status in REFUSED and demanded:
        return (f"{model} refuses log-probabilities ({status}); leave out --logprobs, and have CUC from samples by "
                f"--epochs 10: {said}")  # fmt: skip
    if status is not None:
        return f"{model}: {server} answers with an error ({status}): {said}"
    if isinstance(found, TimeoutError):
        there = listens(model)
        told = "it takes calls; --timeout waits longer" if there else "is it up, and the address right?"
        return f"{model}: {server} did not answer within {max(WAIT, wait) if there else WAIT:g} s; {told}"
    if isinstance(found, OSError) or "connect" in type(found).__name__.lower():
        return f"{model}: {server} cannot be reached; is it up, and the address right? ({said})"
    return f"{model}: {server} gave no reply that can be read; does it speak the protocol? ({said})"


def cause(error: Any) -> Any:
    """What failed at the last of several attempts (tenacity.RetryError), else the error itself."""
    attempt = getattr(error, "last_attempt", None)
    return error if attempt is None else attempt.exception() or error


def failure(error: BaseException) -> str:
    """What a provider's error says, in one line without keys."""
    error = cause(error)
    return _sentence(error) or type(error).__name__


def _sentence(error: Any) -> str:
    text = re.sub(r"\[/?[a-z ]+\]", "", str(error))  # marks of layout
    text = re.sub(r"^Request:.*?(?=\w+Error\()", "", text, flags=re.DOTALL)  # what was asked
    return redacted(" ".join(text.split()))[:300].rstrip(".")


def redacted(text: str) -> str:
    """Without any value of the environment whose name says that it is a key."""
    for value in secrets():
        text = text.replace(value, HIDDEN)
    return text


def secrets() -> list[str]:
    """Values of the environment that are keys by their names, the longest first."""
    found = {value for name, value in os.environ.items() if SECRET.search(name.upper()) and len(value) >= SHORTEST}
    return sorted(found, key=len, reverse=True)
