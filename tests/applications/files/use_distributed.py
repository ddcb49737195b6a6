"""A LocalCluster of distributed computes, with workers in threads and in processes, and closes."""

import operator
import os

from dask import delayed
from distributed import Client, LocalCluster, as_completed

PATIENCE_S = 60


def main():
    cluster, client = start(processes=False)
    step("a task is computed")
    assert client.submit(operator.add, 40, 2).result(timeout=PATIENCE_S) == 42
    step("results are gathered")
    doubled = client.map(operator.add, range(20), range(20))
    assert client.gather(doubled) == list(range(0, 40, 2))
    step("tasks depend on tasks")
    total = client.submit(sum, client.map(operator.neg, doubled))
    assert total.result(timeout=PATIENCE_S) == -380
    step("data is scattered")
    data = client.scatter([1, 2, 3])
    assert client.gather(client.map(operator.neg, data)) == [-1, -2, -3]
    step("an error is passed on")
    failed = client.submit(operator.floordiv, 1, 0)
    assert isinstance(failed.exception(timeout=PATIENCE_S), ZeroDivisionError)
    step("results come as they are completed")
    done = [future.result() for future in as_completed(client.map(abs, [-1, -2]))]
    assert sorted(done) == [1, 2]
    step("a graph of dask is computed")
    parts = [delayed(operator.neg)(n) for n in range(5)]
    assert delayed(sum)(parts).compute(get=client.get) == -10
    step("the cluster closes")
    close(cluster, client)
    step("workers in other processes compute")
    cluster, client = start(processes=True)
    pids = client.gather([client.submit(os.getpid, pure=False) for _ in range(8)])
    assert os.getpid() not in pids
    step("the second cluster closes")
    close(cluster, client)


def start(processes):
    cluster = LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=processes,
        diagnostics_port=None,
        scheduler_port=0,
    )
    client = Client(cluster)
    assert len(client.scheduler_info()["workers"]) == 2
    return cluster, client


def close(cluster, client):
    client.close()
    cluster.close()
    assert (client.status, cluster.status) == ("closed", "closed")


def step(name):
    print("step: " + name, flush=True)


# Workers in processes of their own import this module again.
if __name__ == "__main__":
    main()
