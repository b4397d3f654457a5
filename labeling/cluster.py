"""A cluster that runs already, as one of joblib's backends; what can go wrong with it is told in one sentence."""

import importlib
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from joblib import parallel_config

PACKAGES = {"dask": "distributed", "ray": "ray"}  # what each backend needs
EXAMPLES = {"dask": "tcp://10.0.0.1:8786", "ray": "10.0.0.1:6379"}
ROUNDS = 8  # pieces of each process of ray between two waits for the slowest
ANSWER = 5.0  # seconds within which a cluster must answer


class ClusterError(ValueError):
    """A cluster that cannot be used, or is gone."""


@dataclass(frozen=True)
class Cluster:
    """A connection: joblib's name of the backend, what it needs besides, and what it raises where all is lost.

    `at_once` : how many pieces are dealt before their results are awaited (None: joblib gives results as they come).
    """

    backend: str
    address: str
    lost: tuple[type[BaseException], ...]
    options: dict[str, Any] = field(default_factory=dict)
    at_once: int | None = None

    def used(self) -> AbstractContextManager[Any]:
        """In this context joblib deals work to the cluster."""
        return parallel_config(self.backend, n_jobs=-1, **self.options)

    def gone(self, error: BaseException) -> ClusterError:
        """What is said when the cluster fails."""
        return ClusterError(
            f"the {self.backend} cluster at {self.address} failed ({type(error).__name__}: {_line(error)}); finished"
            " pieces are kept, and the same command goes on from there"
        )


@contextmanager
def connected(backend: str, address: str) -> Iterator[Cluster]:
    """A connection to a cluster, closed at the end; raises ClusterError if there is none within seconds."""
    for package in (backend, PACKAGES[backend]):
        try:
            importlib.import_module(package)
        except ImportError:
            raise ClusterError(
                f"--backend {backend} needs the package {package}; install it by: pip install 'chaostruth[{backend}]'"
            ) from None
    _answering(backend, address)
    with (_dask if backend == "dask" else _ray)(address) as cluster:
        yield cluster


def _answering(backend: str, address: str) -> None:
    """Whether something listens there: both packages would go on trying for longer than anybody waits."""
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not (host and port):
        raise ClusterError(f"--address {address!r} is not of the form HOST:PORT, such as {EXAMPLES[backend]}")
    try:
        socket.create_connection((host, port), timeout=ANSWER).close()
    except OSError as error:
        raise ClusterError(
            f"no {backend} cluster answers at {address}: {error.strerror or error}; start one, or name its"
            f" {'scheduler' if backend == 'dask' else 'head node'}, such as {EXAMPLES[backend]}"
        ) from None


@contextmanager
def _dask(address: str) -> Iterator[Cluster]:
    from distributed import Client
    from distributed.client import FutureCancelledError
    from distributed.scheduler import KilledWorker

    try:
        client = Client(address, timeout=ANSWER, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(f"what answers at {address} is no dask scheduler: {_line(error)}") from None
    with client:
        if not client.ncores():
            raise ClusterError(f"the dask cluster at {address} has no workers; start some by: dask worker {address}")
        yield Cluster("dask", address, (KilledWorker, FutureCancelledError, OSError), {"client": client})


@contextmanager
def _ray(address: str) -> Iterator[Cluster]:
    import ray
    from ray.util.joblib import register_ray

    try:
        ray.init(address=address, log_to_driver=False, logging_level="error")
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        raise ClusterError(f"what answers at {address} is no ray cluster: {_line(error)}") from None
    register_ray()
    again = {"max_restarts": -1, "max_task_retries": -1}  # what a killed process had begun is done by another
    try:
        processes = int(ray.cluster_resources().get("CPU", 0))
        if not processes:
            raise ClusterError(f"the ray cluster at {address} has no CPU; add a node by: ray start --address={address}")
        yield Cluster("ray", address, (ray.exceptions.RayError,), {"ray_remote_args": again}, ROUNDS * processes)
    finally:
        ray.shutdown()


def _line(error: BaseException) -> str:
    return (str(error).strip() or "no reason given").splitlines()[0][:200]
