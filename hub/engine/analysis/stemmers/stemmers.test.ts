import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { snowballStemmerOf, stemmerOf } from "./all.ts";

/** Stemmer, then words with their stems as Lucene 7.5 makes them. */
const STEMS: readonly (readonly [string, string])[] = [
  ["arabic", "الهيليجينون هيليج, القبطية قبط, السلوفاكية سلوفاك, المادريز مادريز, اسكندنافي اسكندناف"],
  ["bengali", "অ্যাঙ্গুইলা অ্যাঙ্গু, লাকোটা লাকো, কানাডা কানাড, মাকামে মাকাম, ডিগ্রী ডিগ্র"],
  ["brazilian", "canárias can, mauritânia mauritan, andorra andorr, pangasinã pangasin, provençal provencal"],
  [
    "bulgarian",
    "обединеното обединн, американска американск, каталонски каталонск, кантонски кантонск, години годин",
  ],
  ["czech", "spojených spojn, fulbština fulbsk, jakutština jakutsk, papiamento papiament, micmac micmak"],
  [
    "minimal_english",
    "territories territory, honduras hondura, afrikaans afrikaan, liters liter, terabytes terabyte",
  ],
  ["light_finnish", "brittiläinen britil, sloveeni slove, thaimaa thaim, alabama alabam, bokmål bokmal"],
  ["light_french", "britanniques britan, maldives maldiv, milles mile, sérère serer, téraoctet teraoctet"],
  [
    "minimal_french",
    "mariannes marian, braille brail, indonésie indonési, malgache malgach, téraoctets téraoctet",
  ],
  ["galician", "británicas brit, polaco pol, assamés assam, carachaio carachai, iemení iemeni"],
  ["minimal_galician", "comores comor, marianas mariana, buginés buginé, símbolos símbolo, wallis wallil"],
  [
    "light_german",
    "äußeres auß, malediven malediv, irakischer irakisch, sandawe sandaw, äthiopisch athiopisch",
  ],
  [
    "minimal_german",
    "marianen maria, seychellen seychell, toméischer toméisch, khowar khowa, äthiopisch athiopisch",
  ],
  ["german2", "israelischer isral, arabisch arab, mittelirisch mittelir, polnischer polnisch, tögrög togrog"],
  ["greek", "βερμουδεσ βερμ, νορβηγικα νορβηγ, νιγηρασ νιγηρ, ουρουγουαη ουρουγουα, γιαρδα γιαρδ"],
  ["hindi", "बोत्स्वाना बोत्स्व, कोलोनियाई कोलोनिय, बुल्गारिया बुल्गारिय, नगोंबा नगोंब, डिग्री डिग्र"],
  ["light_hungarian", "szigetek szig, mayotte mayot, kenyai keny, ndonga ndong, milliméter millimeter"],
  ["indonesian", "penglihatan lihat, terabyte abyte, divehi vehi, guarani guaran, astronomi astronom"],
  ["light_italian", "albania alban, burkina burkin, americana american, swahili swahil, bolívar bolivar"],
  ["latvian", "īpašais īpaš, panamas panam, sentkitsa sentkits, maithili maithil, terabaiti terabait"],
  [
    "light_norwegian",
    "kokosøyene kokosøy, megabyte megaby, makedonia makedoni, costaricanske costaricansk, gallon gallo",
  ],
  [
    "light_nynorsk",
    "fahrenheit fahren, felles fell, kirgisistan kirgisista, sveitsiske sveitsisk, gallon gallo",
  ],
  [
    "minimal_norwegian",
    "kokosøyene kokosøy, kilometer kilomet, norfolkøya norfolkøy, ghanesiske ghanesisk, terabyte terabyt",
  ],
  [
    "minimal_nynorsk",
    "kokosøyene kokosøy, felles fell, makedonia makedoni, etiopiske etiopisk, terabyte terabyt",
  ],
  [
    "light_portuguese",
    "emirados emirad, bolívia bolivi, áfrica afric, tamaxeque tamaxequ, devanágari devanagari",
  ],
  ["minimal_portuguese", "comores comor, canárias canária, balinês balinê, direitos direito, wallis wallil"],
  ["portuguese_rslp", "papiamento papi, coreano core, croácia croac, chibcha chibch, papuásia papuasia"],
  [
    "light_russian",
    "объединенных объединен, абхазский абхазск, манипурский манипурск, камбоджа камбодж, недель недел",
  ],
  ["sorani", "عەرەبییەکان عەرەبیی, هێماکان هێما, کەناری کەنار, کانووری کانوور, بەنگالی بەنگال"],
  ["light_spanish", "emiratos emirat, gigabytes gigabyt, zelanda zeland, argentino argentin, yemení yemeni"],
  [
    "light_swedish",
    "nederländerna nederländ, hieroglyfer hieroglyf, sverige sverig, saamia saami, terabit terabi",
  ],
  ["english", "traditional tradit, amharic amhar, eurozone eurozon, cantonese cantones, ariary ariari"],
  ["armenian", "միություն մի, մոլդովական մոլդով, իսրայել իսրայ, դուալա դուալ, ֆարենհայթի ֆարենհայթ"],
  ["basque", "australiarra aus, rundiera run, indiarra indi, palauera palau, terabyte teraby"],
  ["catalan", "territoris terr, blackfoot blackf, macedònia macedon, palestins palestin, islàmic islamic"],
  ["danish", "tidligere tid, tommer tom, libyen liby, britiske britisk, terabyte terabyt"],
  [
    "dutch",
    "afrikaanse afrikan, seychellen seychell, filipijnse filipijn, kantonees kantones, córdoba cordoba",
  ],
  ["finnish", "radžastani radž, garcia garc, sleesia slees, extremadura extremadur, jaardi jaard"],
  ["french", "britanniques britann, bermudes bermud, heures heur, makondé makond, niévès niéves"],
  ["german", "tunesisches tunes, arabisch arab, mokschanisch mokschan, kroatischer kroatisch, tögrög togrog"],
  ["hungarian", "salamon sal, kazahsztán kazahszt, szicíliai szicíli, herero herer, terabájt terabáj"],
  ["irish", "íochtarach íoch, iartharach iarthar, chipir cipir, chalpáis calpáis, theiribheart teiribheart"],
  ["italian", "papiamento pap, pahlavi pahl, argentina argentin, moksha moksh, métchif mètchif"],
  [
    "lithuanian",
    "ypatingasis ypat, ekvadoras ekvador, taitiečių taitiet, badaga badag, nanosekundė nanosekund, lietuvaitės lietuvait, " +
      "aliejus aliej, skaičiuje skait, žaliuosius žal, dirbtumėmės dirb, mokydavosi moky, vandenimis vand, gaidžiui gaid, " +
      "žvilgesiu žvilges, advokate advokat, įsigyjame įsigyj",
  ],
  [
    "norwegian",
    "kokosøyene kokosøy, riyaler riyal, kambodsja kambodsj, eritreiske eritreisk, terabyte terabyt",
  ],
  ["porter2", "outlying out, amharic amhar, ivoire ivoir, straits strait, ariary ariari"],
  ["portuguese", "emirados emir, libéria libér, melilla melill, prussiano prussian, terabyte terabyt"],
  [
    "romanian",
    "teritoriile terit, ungaria ungar, danemarca danemarc, rajasthani rajasthan, săptămâni săptămân",
  ],
  [
    "russian",
    "письменности письмен, вьетнам вьетн, маврикийский маврикийск, гваделупа гваделуп, недель недел",
  ],
  ["spanish", "barbados barb, okanagan okanag, zelanda zeland, boliviano bolivian, ugandés ugandes"],
  ["swedish", "nederländerna nederländ, syrien syri, somalia somali, laziska lazisk, terabyte terabyt"],
  ["turkish", "aksanlar ak, japonca japo, balkarca balkar, maltaca maltaç, svaziland svazilandı"],
];

suite("stemmers", () => {
  for (const [name, pairs] of STEMS) {
    test(`${name} makes the stems of the reference implementation`, () => {
      const stem = stemmerOf(name);
      const words = pairs.split(", ").map((pair) => pair.split(" "));
      assert.deepEqual(
        words.map(([word]) => `${word} ${stem(word!)}`),
        words.map((pair) => pair.join(" ")),
      );
    });
  }

  test("a stemmer that isn't offered is refused by name, with what helps", () => {
    assert.throws(() => stemmerOf("lovins"), /stemmer language \[lovins\] is not offered; use english/);
    assert.throws(() => stemmerOf("klingon"), /invalid stemmer class specified: klingon/);
    assert.throws(() => snowballStemmerOf("Kp"), /snowball language \[Kp\] is not offered; use dutch/);
  });
});
