/** The words of wordle-v1: common English words of five letters, in the order of the alphabet. */

const all = `
  about above abuse actor acute admit adopt adult after again agent agree ahead alarm album alert alien
  alike alive allow alone along alter among anger angle angry ankle apart apple apply arena argue arise
  armor array arrow aside asset audio avoid awake award aware awful bacon badge badly baker basic basin
  batch beach beard beast begin being belly below bench berry birth black blade blame blank blast blaze
  bleed blend bless blind block blood bloom board boast bonus boost booth bound brain brake brand brass
  brave bread break breed brick bride brief bring broad broke brown brush build built bunch burst cabin
  cable camel candy canoe cargo carry carve catch cause cease chain chair chalk charm chart chase cheap
  check cheek cheer chess chest chief child chill choir chose civic civil claim class clean clear clerk
  click cliff climb clock close cloth cloud clown coach coast color comet comic coral couch cough count
  court cover crack craft crane crash crawl crazy cream creek crime crisp cross crowd crown crude cruel
  crush curve cycle daily dairy dance dealt death debit decay delay depth devil diary digit dirty ditch
  diver dizzy donor doubt dozen draft drain drama drawn dream dress dried drift drill drink drive drove
  dusty eager eagle early earth eight elbow elder elect empty enemy enjoy enter entry equal error essay
  event every exact exist extra fable faint fairy faith false fancy fault favor feast fence ferry fetch
  fever fiber field fiery fifth fifty fight final first flame flash fleet flesh float flock flood floor
  flour fluid flute focus force forge forty found frame fresh front frost fruit fully funny ghost giant
  given glass globe glory glove grace grade grain grand grant grape graph grasp grass grave great green
  greet grief grill grind group growl grown guard guest guide habit happy harsh haste haunt heart heavy
  hedge hello hobby honey honor horse hotel house human humor hurry ideal image index inner input issue
  ivory jelly jewel joint judge juice knife knock known label labor large laser later laugh layer learn
  least leave legal lemon level lever light limit linen liver local lodge logic loose lover lower loyal
  lucky lunar lunch magic major maker maple march match maybe mayor medal media melon mercy merge merit
  merry metal meter might minor mixed model money month moral motor mount mouse mouth movie music naval
  nerve never night ninth noble noise north novel nurse ocean offer often olive onion opera orbit order
  organ other ought outer owner paint panel panic paper party pasta patch pause peace peach pearl pedal
  penny phase phone photo piano piece pilot pitch pizza place plain plane plant plate plaza point polar
  porch pound power press price pride prime print prize proof proud pulse punch pupil purse queen quest
  quick quiet quite quote radar radio raise rally ranch range rapid ratio raven reach react ready realm
  rebel refer relax reply rider ridge rifle right rigid rinse rival river roast robin robot rocky rough
  round route royal ruler rural salad sauce scale scare scarf scene scent score scout scrap screw sense
  serve seven shade shake shame shape share shark sharp sheep sheet shelf shell shift shine shirt shock
  shore short shout shown sight silly since skate skill skirt sleep slice slide slope small smart smell
  smile smoke snack snake sneak solar solid solve sorry sound south space spare spark speak spear speed
  spell spend spice spike spill spine spoke spoon sport spray squad stack staff stage stain stair stamp
  stand start state steal steam steel steep stick stiff still sting stone stool store storm story stove
  straw strip study stuff style sugar suite sunny super sweat sweep sweet swift swing sword table taste
  teach tease tenth thank theme thick thief thing think third thorn those three throw thumb tiger tight
  timer tired toast today token tooth topic torch total touch tough towel tower toxic trace track trade
  trail train treat trend trial tribe trick truck truly trunk trust truth tulip twice twist uncle under
  union unity until upper upset urban usage usual valid value video visit vital vivid vocal voice voter
  wagon waist waste watch water weary weave wedge weigh wheat wheel where which while white whole widow
  width witch woman world worry worth wound wreck wrist write wrong yacht yield young youth zebra
`
  .trim()
  .split(/\s+/);

/** Of each ten words, one is for validation and two are for tests. */
export const words: { train: string[]; validation: string[]; test: string[] } = {
  train: all.filter((_, index) => index % 10 > 2),
  validation: all.filter((_, index) => index % 10 === 0),
  test: all.filter((_, index) => index % 10 === 1 || index % 10 === 2),
};
