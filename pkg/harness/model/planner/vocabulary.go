package planner

import (
	"slices"
	"strings"
)

// asked are the words that say in a question that something is asked, of what, and since when; none of them says what is wanted.
func asked() []string {
	return strings.Fields(`what which where how is are am do does you your yours ur u i my me we us our robot robot's the a an of to for from in on at
		and or that there here now right currently current present presently moment momentarily please kindly thanks just simply only exactly precisely
		tell report give show say state list enumerate name read check measure find out see look let know want would like can could will
		much many far have has got left remaining still already if whether all any every each some one ones both
		hey hello hi ok okay buddy again be been as well too also so , : " ' no lie lies lying stand standing find located things thing question`)
}

// Words that belong to one kind of question.
func batteryWords() []string {
	return strings.Fields(`battery charge charged power energy juice level percentage percent % status full empty above over more below under less than > < high
		low state condition reading value`)
}

func placeWords() []string {
	return strings.Fields(`places place destinations destination locations location rooms room waypoints waypoint able known
		names available position coordinates pose x y yaw map`)
}

func clearanceWords() []string {
	return strings.Fields(`clearance obstacle obstacles room space free ahead blocked nearest closest wall distance front path way next anything straight away clear
		around between near before forward open surroundings lidar`)
}

func objectWords() []string {
	return strings.Fields(`objects object thing things item items gripper hand hands claw fingers holding hold held carry carrying carried anything something nothing
		everything inside record names known inventory overview location locations position places whereabouts seen visible around there kind empty
		inside stuff lies sitting sits`)
}

func poseWords() []string {
	return strings.Fields(`position pose location coordinates heading orientation yaw whereabouts degrees degree deg radians rad standing facing direction located map x y
		exact status place way spot point face looking`)
}

func jointWords() []string {
	return strings.Fields(`arm arm's joint joints angle angles position positions value values pose configuration radians rad gripper opening wide`)
}

// topic is what one kind of question is about.
type topic struct {
	words           []string
	places, objects bool // it may name them
	able            bool // it may ask what can be done
}

// able: this word says what somebody can do ("the things that you could pick up"), and orders nothing.
func able(list []word, i int) bool {
	if !slices.Contains([]string{"go", "drive", "travel", "visit", "reach", "get", "navigate", "move", "pick", "grab", "take", "up", "send", "bring", "carry", "see"}, list[i].text) {
		return false
	}
	for j := max(0, i-4); j < i; j++ {
		if slices.Contains([]string{"can", "could", "able"}, list[j].text) {
			return true
		}
	}
	return false
}

// accounted: each word of a question is one that questions have, or names a place, an object or a number. A word that is not says something
// that would be left out of the answer.
func (p *parser) accounted(list []word, about topic) bool {
	common, own := asked(), about.words
	list = slices.Clone(list)
	for i := range list { // "the battery's charge", "the red cube's position"
		list[i].text = strings.TrimSuffix(list[i].text, "'s")
	}
	for i := 0; i < len(list); i++ {
		w := list[i]
		if slices.Contains(common, w.text) || slices.Contains(own, w.text) || about.able && able(list, i) {
			continue
		}
		if n := p.nameHere(list[i:], about); n > 0 {
			i += n - 1
			continue
		}
		p.reason = "I can answer questions about pose, places, objects, battery and clearance, but not what is asked with \"" + w.text + "\"."
		return false
	}
	return true
}

// nameHere is how many words a name takes that stands here; 0: none.
func (p *parser) nameHere(list []word, about topic) int {
	best := 0
	if about.places {
		for _, pl := range p.world.places {
			for _, name := range pl.words {
				if len(list) >= len(name) && containsRun(list[:len(name)], name) {
					best = max(best, len(name))
				}
			}
		}
	}
	for _, o := range p.world.objects {
		if !about.objects {
			break
		}
		f := strings.Fields(strings.ToLower(o))
		if len(list) >= len(f) && containsRun(list[:len(f)], f) {
			best = max(best, len(f))
		}
		if list[0].text == f[len(f)-1] {
			best = max(best, 1)
		}
	}
	return best
}
