import { failureText } from 'mfe-kit';
import { storyTexts } from './story-texts';

/** Why a call of the story has failed, in a sentence. */
export function storyFailure(error: unknown): string {
  const { failed, noAnswer } = storyTexts();
  return failureText(
    { reads: 'message', withoutText: failed, withoutAnswer: noAnswer, otherwise: failed },
    error,
  );
}
