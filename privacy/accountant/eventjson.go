package accountant

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// kinds reads the parameters of each event, by its name.
var kinds = map[string]func([]byte) (Event, error){
	Gaussian{}.event():           read[Gaussian],
	SubsampledGaussian{}.event(): read[SubsampledGaussian],
	Laplace{}.event():            read[Laplace],
	Exponential{}.event():        read[Exponential],
	Approx{}.event():             read[Approx],
	GDPFilter{}.event():          read[GDPFilter],
}

func read[E Event](data []byte) (Event, error) {
	var e E
	err := json.Unmarshal(data, &e)
	return e, err
}

// MarshalJSON writes the event's name, its parameters and the count; an invalid charge is an error.
func (c Charge) MarshalJSON() ([]byte, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	parameters, err := json.Marshal(c.Event)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `{"event":%q,%s,"count":%d}`, c.Event.event(),
		bytes.Trim(parameters, "{}"), c.Count), nil
}

// UnmarshalJSON reads what MarshalJSON writes, with any white space. Anything else is ErrEvent:
// another order of the keys, or a key that is unknown, repeated, missing or in capitals, which
// encoding/json alone would accept.
func (c *Charge) UnmarshalJSON(data []byte) error {
	var named struct {
		Event string
		Count int
	}
	var compact bytes.Buffer
	if json.Unmarshal(data, &named) != nil || json.Compact(&compact, data) != nil {
		return fmt.Errorf("malformed charge: %w", ErrEvent)
	}
	parameters := kinds[named.Event]
	if parameters == nil {
		return fmt.Errorf("unknown event %q: %w", named.Event, ErrEvent)
	}
	e, err := parameters(data)
	if err != nil {
		return fmt.Errorf("%s: a parameter of the wrong type: %w", named.Event, ErrEvent)
	}
	charge := Charge{e, named.Count}
	canonical, err := charge.MarshalJSON()
	if err != nil {
		return err
	}
	if !bytes.Equal(compact.Bytes(), canonical) {
		return fmt.Errorf("%s: the keys are not those of this event: %w", named.Event,
			ErrEvent)
	}
	*c = charge
	return nil
}
