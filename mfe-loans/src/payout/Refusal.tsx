import { isLive, refusalSentences } from 'mfe-kit';

/** Why a payout failed, with what to do about it; in a specified portal the message comes first (REQ-264). */
export function Refusal({ text }: { text: string }) {
  const sentences = refusalSentences(text);
  return (
    <>
      {(isLive() ? sentences : sentences.toReversed()).map(({ text, lang }) => (
        <p key={text} lang={lang}>
          {text}
        </p>
      ))}
    </>
  );
}
