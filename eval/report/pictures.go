package report

import (
	"fmt"
	"html/template"
	"slices"

	"github.com/decoy-dp/decoy/eval/linked"
)

// picture is the drawing of an answer.
type picture struct {
	finding
	Off, Caption string // how far a family is off; ""
	Drawings     []template.HTML
}

// Pictures are those of the report, whose summary begins with their questions.
func (h *histories) Pictures(summary []finding) (out []picture) {
	for i, f := range h.Families {
		out = append(out, picture{summary[i], fixed(f.Off), historyAnswers[f.Name].caption,
			h.drawn(f.Parts, summary[i].Question)})
	}
	return append(out, picture{summary[len(out)], "", "AUROC on real units: 1 is perfect, 0.5 is " +
		"guessing. What is predicted of a unit, from its rows, and of the next row.",
		[]template.HTML{h.predictions(predictHistories)}})
}

const mostParts = 14 // of a family that are drawn

// drawn are the pictures of a family: shares by value, of each table, or in one picture what a
// person would count, or the distances themselves.
func (h *histories) drawn(parts []linked.Part, question string) (out []template.HTML) {
	d := rows{label: question, width: 400, left: room(parts, func(p linked.Part) string {
		return h.named(p, p.Of)
	}), right: 84, to: 1e-9}
	parts = worstFirst(parts, partOff)
	for _, p := range parts {
		if p.Labels != nil {
			out = append(out, h.shares(question, p))
		}
	}
	if out != nil {
		return out
	}
	for _, p := range parts[:min(mostParts, len(parts))] {
		a, b, classes, text := p.Off, p.Floor, [2]string{"synthetic", "holdout"}, fixed(p.Off)
		if p.Real != nil {
			a, b, classes = *p.Real, *p.Synthetic, [2]string{"train", "synthetic"}
			real, synthetic := counted(p)
			text = real + ", " + synthetic
		}
		d.to = max(d.to, a, b)
		d.rows = append(d.rows, row{name: h.named(p, p.Of), text: text,
			tip: fmt.Sprintf("%s: off by %s, by chance %s", h.named(p, p.Of), fixed(p.Off), fixed(p.Floor)),
			marks: []mark{{class: classes[0], value: a, bar: true},
				{class: classes[1], value: b, bar: true}}})
	}
	return []template.HTML{d.draw()}
}

// room is the width that names need, up to half of a picture.
func room[T any](all []T, name func(T) string) float64 {
	longest := 0
	for _, x := range all {
		longest = max(longest, len([]rune(name(x))))
	}
	return min(200, 6*float64(longest)+8)
}

// shares draws the two distributions of a part.
func (h *histories) shares(question string, p linked.Part) template.HTML {
	f := steps{label: question + " " + p.Table, width: 400, height: 190, left: 44,
		edges:  append(slices.Clone(p.Labels), ""),
		series: []shares{{"train", p.RealShares}, {"synthetic", p.SyntheticShares}}}
	for i, label := range p.Labels {
		f.tips = append(f.tips, fmt.Sprintf("from %s on: real %s, here %s", label,
			percent(p.RealShares[i]), percent(p.SyntheticShares[i])))
	}
	d := f.plot()
	d.text(d.x(.5), d.down+28, "tick", "middle", h.named(p, p.Of), 60)
	return d.done()
}

// predictions draws the AUROC of what is predicted.
func (h *histories) predictions(question string) template.HTML {
	f := rows{label: question, width: 400, left: room(h.Predictions, predicted), right: 20, to: 1,
		ticks: numberTicks(0, .25, .5, .75, 1)}
	for _, p := range worstFirst(h.Predictions, lost)[:min(mostParts, len(h.Predictions))] {
		f.rows = append(f.rows, row{name: predicted(p),
			tip:   fmt.Sprintf("%s: real %s, here %s", predicted(p), fixed(p.Real), fixed(p.Synthetic)),
			marks: []mark{{class: "train", value: p.Real}, {class: "synthetic", value: p.Synthetic}}})
	}
	return f.draw()
}
