"""How rare terms are in the bodies of public skills: an index keeps those of a long body that are rare there.

What it keeps must not depend on the skills that it has or had, so it goes by these frequencies, of 80,000
public skills. How rare a term is among the skills that are there counts when a task is searched for.
"""

from __future__ import annotations

# Stems by a number that grows with their idf: n are those that up to a share of 2 ** ((1 - n) / 2) of all
# bodies have.
_COMMON = {
    1: """
0 1 2 3 4 a http md to
""",
    2: """
5 and for from in name skill the type user with your
""",
    3: """
6 add all api bash check com creat data exampl file gener get github id if is json kei list new on or
output path refer run s set us
""",
    4: """
10 2026 7 8 action agent applic as at base by code complet config content default descript doc error
format import instal limit log messag no not of onli option queri read request requir result script sourc
start statu text thi time tool true updat valu what x
""",
    5: """
100 15 activ after ai app auth auto call chang claud cli command connect context count current date detail
do e fals find first full g high i input io it item js local main markdown mode model n need note open
page post process product project prompt python report respons return review search session setup show
specif state step summari t target task templat test titl token up url verifi version work write you
""",
    6: """
11 12 16 20 30 50 9 access an analysi analyz ani ar author avail b be befor bodi build c categori cd
client configur custom d delet dev develop document doe done email enabl end env environ event execut
exist export extract f fail featur fetch filter found git header help here imag includ index info issu
last line link load m manag match max memori method my next node now null number packag pattern per plan
provid py rate recommend remov save secret secur select server servic share size string success support
system tag that then top total usag valid via view web when workflow y
""",
    7: """
05 14 200 500 about accept address approv ask await best block browser can close color confirm consol
const convers core cost credenti dai dashboard decis design detect direct directori domain each edit els
endpoint engin entri etc everi field fix follow function go group guid ha handl have head histori how html
init initi integr interact javascript job label languag latest learn level like live locat login low make
manual map mcp me medium metadata min monitor more multipl network npm o object oper optim order org other
out p pass platform point posit prefer print profil progress public qualiti question quick r raw re reason
record releas research role root rule schema second see send sh singl stop store structur style sync tabl
team timeout timestamp topic track typescript ui v vs wait window without yaml ye
""",
    8: """
01 1000 13 18 22 24 25 60 80 account ad allow alwai append appli arg asset audit authent autom automat
back background balanc basic batch brief busi but cach case chain ci clean clear cloud collect comment
commit common commun compar confid contain continu contract control copi critic databas db debug deep def
depend deploi differ dir displai durat echo element fast feedback final flag flow forc form free good
googl grep h health hook host hour human ident identifi implement inform instruct into invalid just keep
keyword length llm long look metric minut miss modul most move multi must never none off ok origin over
overview param paramet pars password patch perform person port primari prioriti privat protocol publish
pull push rang react readi readm real receiv recent regist repo resourc rest retri risk rout safe same
scan scope score sdk section self shell short should signal simpl skip sort space src standard strategi
stream suggest term threshold trigger try ts txt v1 variabl verif wa want warn where why will word
workspac z
""",
    9: """
123 2025 23 300 40 400 90 abov across actual admin advanc alert alreadi analyt answer architectur argument
arrai assist async avoid below between bin both brand break budget bug button calcul cancel capabl captur
card cat channel chat checklist claim class click combin complex compon comput condit convert correct
cover creation cross css curl cursor deploy depth devic directli disabl discov discoveri distribut docker
don down download draft edg en encod enter estim evalu exit expect explain explor extern failur fallback
filenam fill focu folder framework global goal hash hello home immedi improv insight instead int intent
intern isol join knowledg l larg launch let librari localhost lock loop maco mai mark market meet mention
meta mm modifi natur navig non normal notif npx old onc organ os own owner past payload pend period
permiss pip pipelin png polici power pr practic pre present preview price pro problem put python3 q ref
refresh relat relev remain remot replac reset resolut resolv right safeti sai scale schedul screenshot
sentenc sign signatur sinc site so solut some split sql stage stat storag sub subject submit summar switch
take tech technic than thei their them these thread through tier tip tmp trade transact tree trust u uniqu
unit until upload util v2 var visibl visual w watch we which while who width world would wrong www
""",
    10: """
00 000 02 04 06 17 19 2024 21 404 42 45 70 addit adjust ag against also altern amount anoth anthrop
approach archiv area articl assess assign attach attempt aw backend backup bad behavior better blog branch
built cannot catch center changelog char charact chart checkout cleanup clone cmd codex column compani
comparison consid consist constraint cpu criteria daili dark dd delai deliv deliveri describ desktop did
diff discuss drive drop dry due effect empti ensur everyth evid exact excel except exec experi expir
explicit express extens face fi fit float font forward frame frequenc futur gap gemini graph happen height
highlight hold idea impact indic industri inject insert intellig interfac interv jq jwt k know known later
layer lead left len lib licens light linux ll logic ls machin master mean media member merg migrat minim
minimum mkdir month nativ net oauth observ offer onboard op openai opportun our outcom overrid parent part
paus payment pdf persist phase pick place plain pleas plugin potenti predict prefix previou proce
profession properti propos purpos queue quot random rank ratio readabl red reduc reflect region registri
reject render repeat req respond restart resum retriev rotat round row runtim sampl screen separ sever
side similar slug small smart snapshot snippet social someth spawn spec specifi speed stack startup
statist still stori str strong sum symbol tab tell theme thing think todai todo tone too transform trend
troubleshoot turn two under understand unknown usernam uv verbos video voic volum week weight well win
within xml year yyyi
""",
}
RARE = 15  # the number of all others
RARITIES = {stem.encode(): number for number, stems in _COMMON.items() for stem in stems.split()}
