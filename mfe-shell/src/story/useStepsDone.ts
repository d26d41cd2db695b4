import type { Schema } from 'mfe-kit';
import { useState } from 'react';
import { storyTexts } from './story-texts';

type Story = Schema<'ToldStory'>;

/** A sentence about the steps that became done since the story was read before, for screen readers; '' at first. */
export function useStepsDone({ name, steps }: Story): string {
  const texts = storyTexts();
  const done = steps.filter(({ state }) => state === 'done').length;
  const [before, setBefore] = useState({ name, done });
  const [sentence, setSentence] = useState('');
  if (before.name !== name || before.done !== done) {
    setBefore({ name, done });
    const isSame = before.name === name;
    setSentence(
      steps
        .map(({ say, state }, at) =>
          isSame && state === 'done' && at >= before.done ? texts.stepDone(at + 1, say) : '',
        )
        .filter(Boolean)
        .join(' '),
    );
  }
  return sentence;
}
