// The stories of one topic each: what is typed, what was made, what an operator is told, what everybody reaches. They
// run with all the others, and alone while one of them is worked on.
//
//   node topics.mjs BASE_URL LINK TOKEN KEY FOLDER [WORD]   WORD picks those with it in their name
import { Visit } from "./visit.mjs";
import * as forms from "./forms.mjs";
import * as operating from "./operating.mjs";
import * as reach from "./reach.mjs";
import * as results from "./results.mjs";
import * as selling from "./selling.mjs";

const CALLER = [
  ["typing while a picture is uploaded", forms.typedWhileUploading],
  ["a large reference", forms.largeReference],
  ["a dialog stays open", forms.dialogStaysOpen],
  ["a draft is kept", forms.draftIsKept],
  ["without a connection", forms.offlineIsTold],
  ["settings in sight", forms.settingsInSight],
  ["one question for all prices", forms.oneQuestion],
  ["one picture of two", forms.oneOfTwo],
  ["prices on tiles", forms.pricesOnTiles],
  ["the lightbox stays", results.lightboxStays],
  ["a grid's quarters", results.quarters],
  ["make another", results.makeAnother],
  ["act from the library", results.actFromLibrary],
  ["many marks", results.manyMarks],
  ["tiles speak", results.tilesSpeak],
  ["narrowed down and put away", results.narrowed],
  ["marked by keyboard and compared", results.markedByKeyboard],
  ["a family as a tree", results.familyTree],
  ["repainting has a price", results.repaintPriced],
  ["one result shown wide", results.wideIsMedium],
  ["shared by a link", results.sharedByLink],
  ["what is too dear", forms.tooDear],
  ["what fields take", forms.fieldKinds],
  ["create by intent", forms.byIntent],
  ["a prompt's flags as controls", forms.flagsAsControls],
  ["the form as JSON", forms.formAsJson],
  ["samples to click", forms.samplesToClick],
  ["titles and focus", reach.titlesAndFocus],
  ["what has finished is announced", reach.finishedIsAnnounced],
  ["unknown pages", reach.unknownPages],
  ["other languages in the form", reach.othersLanguages],
  ["what is only in English", reach.saidToBeEnglish],
  ["a caller's pages in Chinese", reach.callersInChinese],
];
const OPERATOR = [
  ["health is true", operating.healthIsTrue],
  ["the duration of all jobs", operating.durationOfAll],
  ["what a vendor needs", operating.vendorNeeds],
  ["accounts are found", operating.accountsAreFound],
  ["view as an account", operating.viewAs],
  ["a price stays where it is", operating.priceStays],
  ["an account's page", operating.accountPage],
  ["jobs of an account", operating.accountJobs],
  ["notes on an account", operating.accountNotes],
  ["the plan of an account", operating.accountPlan],
  ["plans by their form", operating.plansByForm],
  ["vouchers are sold", operating.vouchersSold],
  ["quota is sold", selling.quotaSold],
  ["a plan is sold", selling.planSold],
  ["receipts are saved", selling.receiptsSaved],
  ["lists of a span of days", operating.spansOfLists],
  ["a back end's page", operating.backendPage],
  ["a back end is rehearsed", operating.rehearsed],
  ["an operator's pages in Chinese", reach.operatorsInChinese],
];

async function run(visit, stories, place) {
  for (const [name, story] of stories) await visit.tell(name, () => story(visit, visit.page, place));
}

export const callersTopics = (visit, place) => run(visit, CALLER, place);
export const operatorsTopics = (visit, place) => run(visit, OPERATOR, place);

if (process.argv[1]?.endsWith("topics.mjs")) {
  const [base, link, token, key, folder, word = ""] = process.argv.slice(2);
  const place = { base, key, token };
  const picked = (stories) => stories.filter(([name]) => name.includes(word));
  const visit = await Visit.begin(base, folder);
  await visit.signIn(link);
  await results.made(place, "a first result");
  await run(visit, picked(CALLER), place);
  if (picked(OPERATOR).length) {
    await visit.signIn(token);
    await run(visit, picked(OPERATOR), place);
  }
  process.exit((await visit.end()).length ? 1 : 0);
}
