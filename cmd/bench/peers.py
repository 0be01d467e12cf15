"""Runs one peer as shipped, on integer codes: peers.py PEER DIR EPSILON DELTA.

DIR has train.csv (codes), domain.json (column name to number of codes); DIR/out.csv is written
with as many rows as train.csv.
"""

import itertools
import json
import os
import sys

import numpy as np
import pandas as pd


def dataset(frame, domain):
    import mbi

    return mbi.Dataset({c: frame[c].to_numpy() for c in domain}, mbi.Domain.fromdict(domain))


def dpsynth(config):
    def run(frame, domain, epsilon, delta):
        from dpsynth import discrete_mechanisms as d

        shipped = d.DiscreteConfig(mechanism=getattr(d, config)())
        try:
            fit = shipped.calibrate(epsilon=epsilon, delta=delta)
        except ZeroDivisionError:  # its search starts at a budget of 0; Gaussian noise only:
            fit = shipped.configure(zcdp_rho=gdp(epsilon, delta) ** 2 / 2)
        result = fit(np.random.default_rng(), dataset(frame, domain))
        return pd.DataFrame(result.synthetic_data.to_dict())

    return run


def gdp(epsilon, delta):
    """The largest mu of Gaussian differential privacy that is (epsilon, delta)-private."""
    from scipy.optimize import brentq
    from scipy.stats import norm

    def over(mu):
        tail = np.exp(epsilon + norm.logcdf(-epsilon / mu - mu / 2))
        return norm.cdf(-epsilon / mu + mu / 2) - tail - delta

    return brentq(over, 1e-4, 100)


def pgm(name):
    """A mechanism of private-pgm, from the scripts of its repository (PGM names the clone)."""

    def run(frame, domain, epsilon, delta):
        sys.path.insert(0, os.path.join(os.environ["PGM"], "mechanisms"))
        data = dataset(frame, domain)
        if name == "mst":
            from mst import MST

            return pd.DataFrame(MST(data, epsilon, delta).to_dict())
        from aim import AIM

        pairs = [p for p in itertools.combinations(domain, 2) if data.domain.size(p) <= 10_000]
        _, made = AIM(epsilon, delta).run(data, [(p, 1.0) for p in pairs])
        return pd.DataFrame(made.to_dict())

    return run


def dpmm(name):
    def run(frame, domain, epsilon, delta):
        from dpmm import pipelines

        fit = getattr(pipelines, name)(epsilon=epsilon, delta=delta, disable_processing=True)
        fit.fit(frame, domain=domain)
        return fit.generate(n_records=len(frame))

    return run


def smartnoise(name):
    def run(frame, domain, epsilon, delta):
        from snsynth import Synthesizer

        fit = Synthesizer.create(name, epsilon=epsilon, delta=delta)
        return fit.fit_sample(frame, categorical_columns=list(domain), preprocessor_eps=0.0)

    return run


PEERS = {
    "dpsynth-mst": dpsynth("MSTConfig"),
    "dpsynth-aim": dpsynth("AIMConfig"),
    "dpsynth-aim-gdp": dpsynth("AIMGDPConfig"),
    "dpsynth-swift": dpsynth("SWIFTConfig"),
    "pgm-mst": pgm("mst"),
    "pgm-aim": pgm("aim"),
    "dpmm-mst": dpmm("MSTPipeline"),
    "dpmm-aim": dpmm("AIMPipeline"),
    "dpmm-privbayes": dpmm("PrivBayesPipeline"),
    "smartnoise-mst": smartnoise("mst"),
    "smartnoise-aim": smartnoise("aim"),
}


def main():
    peer, folder, epsilon, delta = sys.argv[1:5]
    frame = pd.read_csv(os.path.join(folder, "train.csv"))
    with open(os.path.join(folder, "domain.json"), encoding="utf-8") as f:
        domain = json.load(f)
    frame = frame[list(domain)]
    made = PEERS[peer](frame, domain, float(epsilon), float(delta))
    made[list(domain)].astype(int).to_csv(os.path.join(folder, "out.csv"), index=False)


main()
