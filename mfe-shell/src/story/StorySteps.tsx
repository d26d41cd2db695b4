import type { Schema } from 'mfe-kit';
import { Icon, Unseen } from 'mfe-kit/ui';
import { type ReactNode, useEffect, useRef } from 'react';
import classes from './StoryCard.module.css';
import { storyTexts } from './story-texts';

interface StoryStepsProps {
  steps: Schema<'ToldStory'>['steps'];
  /** The button that does the act of the next step, if it can be done. */
  act: ReactNode;
}

export function StorySteps({ steps, act }: StoryStepsProps) {
  const texts = storyTexts();
  const next = useRef<HTMLLIElement>(null);
  const at = steps.findIndex(({ state }) => state === 'next');

  // A long story scrolls inside the card.
  useEffect(() => {
    // In braces, because newer browsers return a promise, which is no cleanup.
    next.current?.scrollIntoView({ block: 'nearest' });
  }, [at]);

  return (
    <ol className={classes.steps} role="list">
      {steps.map(({ say, act: does, found, state }, index) =>
        state === 'next' ? (
          <li key={index} className={classes.next} aria-current="step" ref={next}>
            <span className={classes.mark} aria-hidden="true">
              {index + 1}
            </span>
            <div>
              <strong>{say}</strong>
              {does ? <p className="detail">{does}</p> : null}
              {found.map((sentence, at) => (
                <p key={at} className="detail">
                  {sentence}
                </p>
              ))}
              {act}
            </div>
          </li>
        ) : (
          <li key={index} className={classes[state]}>
            <span className={classes.mark} aria-hidden="true">
              {state === 'done' ? <Icon name="check" size={13} /> : index + 1}
            </span>
            <div>
              {state === 'done' ? <Unseen>{`${texts.done}: `}</Unseen> : null}
              {say}
            </div>
          </li>
        ),
      )}
    </ol>
  );
}
