/** The names of entities: two invented words, so that no pretrained model knows an entity. The two pools have no word in common. */
import type { Rng } from '@toolenv/core';

/** First words of names. */
export const firstWords: readonly string[] = `
  Alandis Alinda Alivan Alulan Bamir Benna Bidra Bilan Borek Bremon Briro Brulan Brumira Bumira Calosta
  Candis Cilan Conis Coran Corek Demon Denna Dethor Domir Doran Dosta Drandis Dromir Dronis Drulan Dumira
  Eladan Elerith Elivan Elorek Femon Fenedra Fenemon Fenerith Fenidra Fenisel Fenomir Fenorek Fisel Fonis
  Forek Fulan Garandis Garelis Garenna Garilan Garisel Garivan Garulan Gerith Gethor Gisel Golia Gorek Gosta
  Gumira Haladan Halarel Halemon Halenna Halisel Halomir Hamir Hethor Hinda Hodan Horan Isarel Iselis Isidra
  Isodan Isomir Isoran Isumira Jalia Jamir Jarel Jerith Jilan Kedra Keladan Kelarel Kelivan Kelomir Kelonis
  Kelulan Kodan Kolia Lamir Landis Ledra Lidra Lonis Loradan Lorerith Loridra Lororan Lorulan Maralia
  Maredra Marel Maremon Marethor Mivan Molia Mosta Nandis Nidra Nilan Nonis Noran Noremon Norolia Norulan
  Nosta Numira Oravo Oredra Orinda Orivan Orodan Ororek Palia Pandis Pemon Ponis Ramir Relis Rethor Risel
  Rolia Rosenna Rososta Rulan Selalia Selarel Seledra Selinda Selolia Selumira Sisel Sodan Sosta Sumira
  Talelis Talenna Talethor Talia Talilan Talinda Talolia Talomir Tedra Torek Umarel Umemon Umiro Umomir
  Umorek Valia Vamir Velis Verarel Veravo Veredra Vererith Veridra Veriro Veronis Vidra Vivan Vodan Vosta
  Walia Wodan Wolia Wosta Yalia Yandis Yenna Yerith Yivan Yumira Zadan Zandis Zisel Zivan
`
  .trim()
  .split(/\s+/);

/** Second words of names. */
export const secondWords: readonly string[] = `
  Ashburn Ashmere Ashmoor Ashness Ashshaw Ashvale Barden Bargarth Barham Barhurst Barstead Barwick Belburn
  Belfield Belham Belhurst Belness Bramford Bramleigh Bramwick Bribury Bricroft Briden Coldbrook Colddale
  Coldford Coldgate Corbridge Corfell Corgarth Corworth Cragbury Cragdale Craggarth Cragmoor Cragshaw
  Cragwick Dunborough Dungrove Eastcroft Eastford Eaststead Eastwold Elmcombe Elmdale Fairburn Fairgate
  Fairgrove Fairness Fairshaw Fairwold Falbrook Falgarth Farborough Farbrook Farburn Farbury Farcroft
  Farfell Glencroft Glendale Glenden Glenfield Glenmoor Grimmere Grimstead Harbridge Harham Harhurst Harton
  Harvale Hazelleigh Hazelmere Hazelmore Holmbrook Holmburn Holmden Holmmere Holmmoor Holmton Kinbrook
  Kinford Kinshaw Kinwold Kinworth Langford Langgarth Langhurst Langmere Langridge Langworth Linbury
  Linfield Lingrove Linham Linness Linwick Malbrook Malden Malfell Malhurst Malmere Malton Merbridge
  Mercroft Merhurst Merton Mervale Merwold Middale Midfell Midmoor Midstead Midton Northbrook Northden
  Northford Northham Northstead Oakcombe Oakfell Oakfield Oakgate Oakleigh Oakshaw Penbury Penham Penmoor
  Penness Penshaw Quilford Quilgarth Quilridge Quilshaw Quilwold Ravbridge Ravbury Ravgate Ravleigh Ravmere
  Rowdale Rowfell Rowstead Rowwold Rowworth Sedborough Sedden Sedgrove Sedridge Sedvale Sedwick Shelbridge
  Shelgrove Shelmoor Shelridge Stendale Stenham Stenhurst Stenvale Stenwick Stordale Storden Storford
  Stormore Storton Storwold Thornburn Thornbury Thornshaw Thornvale Thornwold Ulborough Ulbrook Ulmore
  Walbridge Walcombe Walgrove Walham Walhurst Walness Wexfell Wexfield Wexgate Windburn Windbury Windcombe
  Windness Windridge Windworth Wolbridge Wolfield Wolmoor
`
  .trim()
  .split(/\s+/);

/** Returns a function that draws a new name at each call, without replacement, from all pairs of words. */
export function createNames(rng: Rng): () => string {
  const given = new Set<string>();
  return () => {
    for (;;) {
      const name = `${rng.pick(firstWords)} ${rng.pick(secondWords)}`;
      if (given.has(name)) continue;
      given.add(name);
      return name;
    }
  };
}
