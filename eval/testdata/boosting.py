"""Writes boosting.json: log odds of HistGradientBoostingClassifier on integer codes taken as numbers.

Run with scikit-learn 1.9.1, NumPy 2.4.6: python boosting.py > boosting.json
"""

import json

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

rng = np.random.default_rng(7)
sizes = [12, 9, 7, 30]
codes = np.stack([rng.integers(0, s, 400) for s in sizes], axis=1)
odds = np.sin(codes[:, 0]) + (codes[:, 1] > 4) * (codes[:, 2] - 3) / 2 + rng.normal(size=400) / 2
labels = odds > 0.3
fits = []
for trees, leaves, rows, penalty in [(1, 4, 20, 1.0), (10, 8, 20, 1.0), (30, 15, 5, 3.0)]:
    m = HistGradientBoostingClassifier(
        max_iter=trees, max_leaf_nodes=leaves, min_samples_leaf=rows, l2_regularization=penalty, early_stopping=False
    ).fit(codes, labels)
    scores = m.decision_function(codes)
    fits.append({"trees": trees, "leaves": leaves, "min_rows": rows, "penalty": penalty, "scores": scores.round(9).tolist()})
print(json.dumps({"sizes": sizes, "codes": codes.tolist(), "labels": labels.tolist(), "fits": fits}))
