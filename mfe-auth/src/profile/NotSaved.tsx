import { failureText } from 'mfe-kit';
import { Note } from 'mfe-kit/ui';
import { failureOf } from './profile';
import { profileTexts } from './profile-texts';

/** Why a change was not saved. `sentence` stands where the server says nothing. */
export function NotSaved({ sentence, error }: { sentence: string; error: Error }) {
  const texts = profileTexts();
  return (
    <Note tone="bad" title={texts.notSaved} error={error}>
      <p>{failureText(failureOf(sentence, texts), error)}</p>
    </Note>
  );
}
