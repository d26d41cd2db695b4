import { isLive, refusalSentences } from 'mfe-kit';

/** Why a payout failed, with what to do about it; in a specified portal the message comes first (REQ-264). */
export function Refusal({ text }: { text: string }) {
  const sentences = refusalSentences(text);
  return (
    <>
      {(isLive() ? sentences : sentences.toReversed()).map((sentence) => (
        <p key={sentence} lang={languageOf(sentence, sentences)}>
          {sentence}
        </p>
      ))}
    </>
  );
}

/** What follows advice is mobile money's own sentence, and those that advice is known for are in English. */
export function languageOf(sentence: string, sentences: readonly string[]): 'en' | undefined {
  return sentences.indexOf(sentence) > 0 ? 'en' : undefined;
}
