"""Writes logistic.json: the weights that scikit-learn's LogisticRegression finds on one-hot codes.

Run with scikit-learn 1.9.1, NumPy 2.4.6: python logistic.py > logistic.json
"""

import json

import numpy as np
from sklearn.linear_model import LogisticRegression

rng = np.random.default_rng(6)
sizes = [3, 2, 5, 4]
codes = np.stack([rng.integers(0, s, 150) for s in sizes], axis=1)
one_hot = np.concatenate([np.eye(s)[codes[:, i]] for i, s in enumerate(sizes)], axis=1)
odds = one_hot @ rng.normal(size=sum(sizes)) - 0.7
labels = rng.random(150) < 1 / (1 + np.exp(-odds))
fits = []
for c in [1.0, 0.05, 20.0]:
    # newton-cholesky in version 1.9 and lbfgs in all versions minimise the same loss; this one is solved to rounding.
    m = LogisticRegression(C=c, solver="newton-cholesky", tol=1e-14, max_iter=1000).fit(one_hot, labels)
    fits.append({"c": c, "weights": m.coef_[0].tolist(), "intercept": m.intercept_[0].item()})
print(json.dumps({"sizes": sizes, "codes": codes.tolist(), "labels": labels.tolist(), "fits": fits}))
