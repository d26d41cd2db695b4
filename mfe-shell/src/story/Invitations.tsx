import type { Schema } from 'mfe-kit';
import { CopyButton } from 'mfe-kit/ui';
import classes from './StoryCard.module.css';
import { storyTexts } from './story-texts';

/** The addresses at which others enter the sandbox, by role. */
export function Invitations({ invitations }: Pick<Schema<'GuestStory'>, 'invitations'>) {
  const texts = storyTexts();
  return (
    <div className={classes.invitations}>
      <h3>{texts.invite}</h3>
      <p className={classes.text}>{texts.inviteText}</p>
      <ul role="list">
        {invitations.map(({ role, url }) => (
          <li key={url}>
            <span>
              {texts.roles[role]}
              <span className={classes.address}>{url}</span>
            </span>
            <CopyButton text={url} label={texts.copyAddress(texts.roles[role])} />
          </li>
        ))}
      </ul>
    </div>
  );
}
