package all

import (
	"slices"
	"strings"
)

// gone are the settings that methods once had, and why they have them no more, or what to write
// instead (docs/decisions/029-settings.md).
var gone = []struct{ methods, keys, why string }{
	{"wgan mst", "preset", "wgan sizes itself by budget and rows; for mst, write settings: " +
		"{group_sigmas: 3} in place of presets small and medical, and {group_sigmas: 1} in place of " +
		"large and fraud"},
	{"wgan pategan", "cold_start", "the generator starts from a marginal model, which " +
		"marginal_share pays for"},
	{"wgan pategan", "total_share one_way_share target_share pair_share pairs group_sigmas",
		"the number of rows and all marginals are those of the marginal model, which marginal_share " +
			"pays for"},
	{"wgan", "no_replay fresh_critics snapshots table_weight", "the generator follows all " +
		"measurements and the marginal model: nothing else measured better"},
	{"wgan", "unsteered", "rows are steered: their pairs measured a quarter better"},
	{"wgan", "head temperature slope generator_units", "the networks have one form: no other " +
		"measured better"},
	{"wgan", "radius", "mode ball clips to 1"},
	{"wgan", "penalty penalty_share penalty_reach limit", "each way to hold the critic has one " +
		"strength: none measured better"},
	{"wgan pategan", "batch critic_rate generator_rate teacher_hidden teacher_epochs teacher_rate " +
		"student_hidden student_steps student_weight", "networks train at the rates and sizes that " +
		"measured best"},
	{"mwem", "sweeps shrink total_share one_way_share", "no other value measured better"},
	{"aim", "published", "the form of the paper is a test: it measured behind on every table"},
	{"smalldb", "total_share", "the number of rows takes a tenth of epsilon"},
	{"pategan", "warm_steps", "it is distil_steps"},
	{"pategan", "post_steps", "generator_steps follow each vote, the last one too"},
}

// Gone says why a method has a setting of earlier versions no more, or "".
func Gone(method, key string) string {
	for _, g := range gone {
		if slices.Contains(strings.Fields(g.methods), method) &&
			slices.Contains(strings.Fields(g.keys), key) {
			return g.why
		}
	}
	return ""
}
