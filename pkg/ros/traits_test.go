package ros

import "testing"

// Whatever a publisher offers, one of the subscriptions hears it as well as its offer allows: reliably, and what it kept.
func TestHearEachHearsEveryPublisherAsWellAsItsOfferAllows(t *testing.T) {
	subs := HearEach(nil, 10)
	for _, reliability := range []Reliability{Reliable, BestEffort} {
		for _, durability := range []Durability{Volatile, TransientLocal} {
			offer := QoS{Reliability: reliability, Durability: durability}
			heard, reliably, kept := false, reliability == BestEffort, durability == Volatile || reliability == BestEffort
			for _, s := range subs {
				if Incompatible(offer, s) == "" {
					heard = true
					reliably = reliably || s.Reliability == Reliable
					kept = kept || s.Durability == TransientLocal
				}
			}
			if !heard || !reliably || !kept {
				t.Errorf("%s: heard %v, reliably %v, with what it kept %v", offer, heard, reliably, kept)
			}
		}
	}
	if got := HearEach(noQoS{}, 10); len(got) != 1 || got[0].Depth != 10 {
		t.Errorf("without quality of service: %v", got)
	}
}

type noQoS struct{ Node }

func (noQoS) Traits() Traits { return Traits{NoQoS: true} }
