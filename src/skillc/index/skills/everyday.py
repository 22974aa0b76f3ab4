"""Everyday words: what prompts have whatever they are about, and so says little about a skill.

They are rare among skills, so that their idf would make them seem telling.
"""

from __future__ import annotations

from skillc.index.skills.tokens import STOP_WORDS

# Stems: common ones of English and of talk about code, and such words of other languages.
_STEMS = """
0 1 10 100 11 12 15 2 20 24 25 3 30 4 40 42 5 50 6 60 7 8 9 abbiamo aber about abov across actual ad add
address adesso adicion affect after again against aggiungi ago agora ahead ahora aider aiuta aiutami ajout
ajud ajuda al algo algorithm all alla aller almost along alreadi alright also although altra altri altro
alwai am amanha among anad anch andar ander anne anno ano anoth answer antwort anybodi anymor anyon anyth
anywai anywher ao apart appli apr april aquel aqui archivo argument around arquivo arrai array ask assert
async au auch auf august aujourd aussi autr autumn avant avec aver avez avoir avon awai ayer ayuda ayudam
back bad beaucoup becaus becom befor begin behind bei below bem bene besid besser best better between bi
bien big birthdai bit bitt blue boa boi bom bonjour bonn book bool boolean borra both bottom branch break
breakfast bring broken brother buena bueno bug bui build buona buono button ca call callback cambia came
cannot capit car case cat ce ceci cela celui cett chang che check chez chi child choos ci ciao citi class
clean clear click close code coffe color column com come comment commit como compar compil complet complex
compon con config conflict consid const constant contain continu convert cook copi correct correggi corrig
corrija cosa count countri cours crash creat cual cuando current cut d da dai dal dalla dammi dan dank dann
dark date datei dateien de debe debo debug decemb default degli dei dein deja del delet dell della dem
demain den deni depoi depui der dernier describ desd despu detail deve devo di dia dich did didn die differ
diga dime dimmi dinner directori dog doi doit dollar domanda domani don donc dond done donn dont dopo dort
doubl dove down drop du durch dure e each earli easi eat ecri edit effect egg ein einem einen einer either
el ela ell ella ello els em empti en encor end english enough entfern entr enum er erklar erreur erro error
erst es esa escreva escrib eso ess essa essay esser est esta estan estar esto estoi estou et etait etc etr
eu euro even ever everi everyon everyth everywher exact exactli exampl except exit expect explain explica
explicam expliqu export extra extract faca fai fail fait fals famili far fast father fatto faut favor faz
fazer februari fehler feito few fichier field file fill final find fine finish first five fix folder follow
food forget format found four fra frage frase fridai friend front fuge full function fur further game gave
gegen geht gener gent gestern get gia gibt gift giorno girl git give given gli go goe gone good got gracia
gram grammar grand grazi great green group guess gut habe haben hace hacer hai haiku half hanno happen happi
hard hasta hat hatt haven haz he header hecho hei hello help helper her here heut hi hier high hilf him ho
hoi hoje hola hold home hope hour hous howev huge hui husband ich ici icon idea ieri ignor ihr il im immer
import improv includ input insert insid instead int integ interest interfac invalid ir isso issu ist isto
itself ja jahr jamai januari je jetzt job joke jour json juli june jusqu just kann kannst keep kei kein kid
kill kind knew know known konnen konntest la label languag larg last late later latest layout le learn least
leav left lei less let letzt letzten leur leut li librari life lign like line linea linha link list littl
live ll lo load local log long look loop loro losch lot love low lui lunch m ma machen made mai main mainten
make mal malo man manana mani march mark match matter mau mayb mean mehr mein meinem meinen meme meno merci
merg mesmo messag method meu mi mia mich miei might mind minha minut mio mir mismo miss mistak mit mocht
mode modul moi moin molti molto moment mon mondai monei month montr more morgen morn most mostli mostr
mostra mother move movi much mucho mude muestra mui muito music muss mussen must myself n na nachst nada
name nao ne near need nel nella neu neue neuen never new next ni nice nicht nient night nobodi noch noi non
none normal nosotro nosso nostro note noth notic notr nou nouveau nouvel novemb novo now nuestro nueva nuevo
null number nunca nuova nuovo nur o object obrigado obviou octob oder off often oggi ohn ok okai ola old onc
ond onli ont ontem open opposit option ora order origin os other otherwis otra otro ou ought oui ounc out
output outra outro outsid over own pa packag page palabra palavra para paragraph paramet parc parola pars
part parti pass past path pela pelo peopl pequeno per perch pergunta perhap permiss pero person pessoa petit
peu peut peux phone piccolo pick piec piu pixel place plai plain plait pleas plu poco pode poem point por
porqu port possibl posso pouco pound pour pourquoi pouvez pregunta premier present press pretti prevent
previou prima primeiro primero primo print probabl problem process program programm project promis proper
properli provid pued puedo pull puo puoi push put py qual qualcosa quand quando que quel quell quella quello
quem quer quero questa questi question questo qui quick quickli quien quier quiero quit quita quoi quot rain
random rather re read readi readm real realli reason rebas recent recip recurs red refactor refer regex
remain rememb remov remova renam repeat replac repli repo repons repositori request respons resposta
respuesta rest result return reus revert rid rien riga right risposta root row run s sag sai said salut same
san sao saturdai satz save saw schon school schreib screen script scrivi se search second section see seem
seen sehr sein select self sem semain semana sempr send sentenc senza separ septemb ser server set settimana
seu sever she shop short should show shut si siamo side siempr signatur similar simpl simpli sin sinc sind
singl sister sit situat size skip slow small sobr soi soll sollen some someon someth sometim somewher somm
somo son song sono sont soon sopra sorri sort sotto sou space specif speech spiega spiegami split spring
squash sta stack stai stare start stash state statement step stesso still sto stop stori string struct stuff
style su sua submit such suggest summar summari summer sundai suo supprim sur sure switch synonym syntax t
ta tab take talk tambem tambien task te tell tem ten tener tengo tenho ter test text than thank thi thing
think third those though thought thread three through throw thursdai ti tiempo tien till time timeout tip
titl toda todai todo togeth toggl togli toi told tomorrow ton too took top total tou toujour tout toward tra
traceback translat travel tri trip trop true try tu tua tudo tuesdai tuo tupl turn tutt tutta tutti tutto
twice two type typo ultima ultimo um uma un una und undefin understand undo unless uno unser until unus up
updat upon url us usag user usted usual util va vacat vado vai valid valu vamo variabl ve veri version veut
veux via viel view vo voce voglio voi von votr vou vuoi wa wai wait walk wann want war waren warn warum
watch water weather wed wednesdai week weekend weil welch welcher well wenn went wer werden weren whatev
where whether while white whitespac whole whose why wide width wie wieder wieso wife window winter wir wird
wish within without wo woch woman won wonder word work world worri wors wort write written wrong wrote wurd
x y ya ye year yesterdai yet yo young yourself z zeig zeil zeilen zeit zu zum zur zwischen
а без больше большои будет бы был была были было быть в вам вас во вопрос время все всегда всех вчера вы где
год да даи делать день для до добавь другои его ее если есть еще же за завтра зачем здесь и из измени или
исправь их к как какая какие какои когда кто куда ли люди мало между меньше меня мне много могу можешь можно
мои моя мы на над надо нам напиши нас не неделю нет ни никогда ничего но новая новыи нужно о об объясни он
она они от ответ очень ошибка первыи перед по под пожалуиста покажи помоги после последнии последнюю потому
почему поэтому при привет про с сделаи сделать сегодня сеичас скажи слово со спасибо строка строки строку та
также там твои те тебя теперь то того тоже только тот ты у убери удали уже фаил фаила фаиле хочу что эта эти
это этого этот я
ァイ イル エラ コメ コー スト テス ファ メン ラー リス ント ード 今天 今日 代码 保存
修改 修正 函数 删除 削除 变量 名前 名字 回答 変数 変更 失敗 失败 字符 実行 意味 数字
文件 文字 日付 时间 明天 明日 昨天 昨日 時間 更新 检查 测试 添加 画面 确认 確認 解释
説明 说明 質問 运行 追加 错误 関数 问题 需要 감사 내일 누구 다시 모두 무엇 문제 변경
사람 삭제 설명 스트 시간 실행 안녕 어제 언제 얼마 오늘 오류 우리 이름 저장 전부 지금
추가 코드 테스 파일 함수 확인
"""
EVERYDAY_STEMS = frozenset(_STEMS.split())
# Characters that make a pair everyday: Chinese pronouns and particles, Korean endings.
_LITTLE = frozenset(
    "的了是我你他她它们這这那個个在有要会和与就也都吗呢吧请把给被让为什么怎很不没一은는을를습니다요"
)


def is_everyday(term: str) -> bool:
    """Return whether prompts have a term whatever they are about.

    Hiragana is, in which Japanese writes its grammar.

    >>> [is_everyday(term) for term in ("pleas", "kubernet", "为什", "日志", "行し")]
    [True, False, True, False, True]
    """
    if term.isascii():
        return term in EVERYDAY_STEMS
    return term in EVERYDAY_STEMS or any(char in _LITTLE or is_hiragana(char) for char in term)


def is_stop_word(term: str, word: bytes) -> bool:
    """Return whether a term says nothing about a task, or the word of the task that it is from."""
    return word in STOP_WORDS or (not term.isascii() and all(map(is_hiragana, term)))


def is_hiragana(character: str) -> bool:
    return "\u3040" <= character <= "\u309f"
