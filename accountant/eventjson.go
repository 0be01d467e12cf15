package accountant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// eventName is the name of an event in JSON, or "" for one that the accountant does not know.
func eventName(e Event) string {
	switch e.(type) {
	case Gaussian:
		return "gaussian"
	case SubsampledGaussian:
		return "subsampled-gaussian"
	case DiscreteGaussian:
		return "discrete-gaussian"
	case Laplace:
		return "laplace"
	case Exponential:
		return "exponential"
	case Approx:
		return "approx"
	case GDPFilter:
		return "pool"
	}
	return ""
}

// chargeJSON is the JSON object of a charge. A pointer is nil when the key is absent.
type chargeJSON struct {
	Event           string   `json:"event"`
	Rate            *float64 `json:"rate,omitempty"`
	NoiseMultiplier *float64 `json:"noise_multiplier,omitempty"`
	Sensitivity     *int64   `json:"sensitivity,omitempty"`
	Epsilon         *float64 `json:"epsilon,omitempty"`
	Delta           *float64 `json:"delta,omitempty"`
	Mu              *float64 `json:"mu,omitempty"`
	Count           *int     `json:"count"`
}

// MarshalJSON writes the event's name, its parameters and the count; an invalid charge is an error.
func (c Charge) MarshalJSON() ([]byte, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	j := chargeJSON{Event: eventName(c.Event), Count: &c.Count}
	switch e := c.Event.(type) {
	case Gaussian:
		j.NoiseMultiplier = &e.NoiseMultiplier
	case SubsampledGaussian:
		j.Rate, j.NoiseMultiplier = &e.Rate, &e.NoiseMultiplier
	case DiscreteGaussian:
		j.NoiseMultiplier, j.Sensitivity = &e.NoiseMultiplier, &e.Sensitivity
	case Laplace:
		j.Epsilon = &e.Epsilon
	case Exponential:
		j.Epsilon = &e.Epsilon
	case Approx:
		j.Epsilon, j.Delta = &e.Epsilon, &e.Delta
	case GDPFilter:
		j.Mu = &e.Mu
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads exactly the keys of the named event, each once, in any order. Anything else
// is ErrEvent.
func (c *Charge) UnmarshalJSON(data []byte) error {
	var j chargeJSON
	keys := map[string]any{
		"event": &j.Event, "rate": &j.Rate, "noise_multiplier": &j.NoiseMultiplier,
		"sensitivity": &j.Sensitivity,
		"epsilon":     &j.Epsilon, "delta": &j.Delta, "mu": &j.Mu, "count": &j.Count,
	}
	if err := decodeObject(data, keys); err != nil {
		return err
	}
	var e Event
	complete, given := false, 0
	for _, p := range []bool{j.Rate != nil, j.NoiseMultiplier != nil, j.Sensitivity != nil,
		j.Epsilon != nil, j.Delta != nil, j.Mu != nil} {
		if p {
			given++
		}
	}
	switch j.Event {
	case "gaussian":
		if complete = given == 1 && j.NoiseMultiplier != nil; complete {
			e = Gaussian{*j.NoiseMultiplier}
		}
	case "subsampled-gaussian":
		if complete = given == 2 && j.Rate != nil && j.NoiseMultiplier != nil; complete {
			e = SubsampledGaussian{*j.Rate, *j.NoiseMultiplier}
		}
	case "discrete-gaussian":
		if complete = given == 2 && j.NoiseMultiplier != nil && j.Sensitivity != nil; complete {
			e = DiscreteGaussian{*j.NoiseMultiplier, *j.Sensitivity}
		}
	case "laplace":
		if complete = given == 1 && j.Epsilon != nil; complete {
			e = Laplace{*j.Epsilon}
		}
	case "exponential":
		if complete = given == 1 && j.Epsilon != nil; complete {
			e = Exponential{*j.Epsilon}
		}
	case "approx":
		if complete = given == 2 && j.Epsilon != nil && j.Delta != nil; complete {
			e = Approx{*j.Epsilon, *j.Delta}
		}
	case "pool":
		if complete = given == 1 && j.Mu != nil; complete {
			e = GDPFilter{*j.Mu}
		}
	default:
		return fmt.Errorf("accountant: unknown event %s: %w", strconv.Quote(j.Event), ErrEvent)
	}
	if !complete || j.Count == nil {
		return fmt.Errorf("accountant: %s: the keys are not those of this event: %w", j.Event, ErrEvent)
	}
	charge := Charge{Event: e, Count: *j.Count}
	if err := charge.validate(); err != nil {
		return err
	}
	*c = charge
	return nil
}

// decodeObject decodes a JSON object into the pointers of keys. encoding/json alone would accept a
// repeated key, one in another case, and null.
func decodeObject(data []byte, keys map[string]any) error {
	malformed := fmt.Errorf("accountant: malformed JSON object: %w", ErrEvent)
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return malformed
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return malformed
		}
		into := keys[key]
		if into == nil || seen[key] {
			return fmt.Errorf("accountant: unknown or repeated key %s: %w", strconv.Quote(key), ErrEvent)
		}
		seen[key] = true
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil || string(raw) == "null" || json.Unmarshal(raw,
			into) != nil {
			return fmt.Errorf("accountant: key %s has a value of the wrong type: %w", strconv.Quote(key),
				ErrEvent)
		}
	}
	if t, err := d.Token(); err != nil || t != json.Delim('}') {
		return malformed
	}
	return nil
}
