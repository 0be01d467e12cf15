"""Writes forest.json: shares of positives by RandomForestClassifier on integer codes taken as numbers, over so many trees that the draw hardly matters.

Run with scikit-learn 1.9.1, NumPy 2.4.6: python forest.py > forest.json
"""

import json

import numpy as np
from sklearn.ensemble import RandomForestClassifier

rng = np.random.default_rng(11)
sizes = [12, 9, 7, 30, 2, 5]
codes = np.stack([rng.integers(0, s, 600) for s in sizes], axis=1)
odds = np.sin(codes[:, 0]) + (codes[:, 1] > 4) * (codes[:, 2] - 3) / 2 + codes[:, 4] * (codes[:, 5] - 2) / 3 + rng.normal(size=600) / 2
labels = odds > 0.6
train = 400
fits = []
for rows, columns in [(5, 2), (1, 2), (20, 6)]:
    m = RandomForestClassifier(n_estimators=20000, min_samples_leaf=rows, max_features=columns, random_state=3, n_jobs=2)
    m.fit(codes[:train], labels[:train])
    fits.append({"min_rows": rows, "columns": columns, "scores": m.predict_proba(codes[train:])[:, 1].round(4).tolist()})
print(json.dumps({"sizes": sizes, "train": train, "codes": codes.tolist(), "labels": labels.tolist(), "fits": fits}))
