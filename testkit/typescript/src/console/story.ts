import { setTimeout } from 'node:timers/promises';
import { bodyOf } from '../call-failed';
import type { Schemas } from '../clients';
import { type Duration, milliseconds } from '../time';
import { Verbs } from './verbs';

/** A step of a story, and whether it is done. */
export type Step = Schemas['ToldStep'];

/** The interval between two checks whether a step is done, in milliseconds. */
const POLL_INTERVAL = 100;

/** The story that the sandbox tells. */
export class Story extends Verbs {
  /** The number of steps that `next` has returned. */
  #returned = 0;

  /** All steps, in order. */
  async steps(): Promise<Step[]> {
    const { steps } = await this.#told();
    return steps;
  }

  /** Does the act of the next step, if it has one, and waits until the step is done: each is returned once, in order. */
  async next({ wait = '20s' }: { wait?: Duration } = {}): Promise<Step> {
    const deadline = Date.now() + milliseconds(wait);
    let story = await this.#told();
    const index = this.#nextOf(story);
    if (index === story.steps.length) throw new Error(`All steps of ${story.name} are done`);
    // Without an act of its own, the act of the step that follows could be done too early.
    if (story.steps[index]?.act && story.steps[index].state === 'next')
      story = await bodyOf(this.console.POST('/console/api/story/next'));
    for (;;) {
      const step = story.steps[index];
      if (step?.state === 'done') {
        this.#returned = index + 1;
        return step;
      }
      if (Date.now() >= deadline)
        throw new Error(
          `Step ${index + 1} of ${story.name} was not done within ${wait}: ${step?.say}\n` +
            `Expected: ${step?.expected.join(' ')}\nFound: ${step?.found.join(' ')}`,
        );
      await setTimeout(POLL_INTERVAL);
      story = await this.#told();
    }
  }

  /** Goes on until all steps are done, and waits for each as `next` does. */
  async end(waiting: { wait?: Duration } = {}): Promise<void> {
    for (let story = await this.#told(); this.#nextOf(story) < story.steps.length; story = await this.#told())
      await this.next(waiting);
  }

  /** The index of the step to return next. */
  #nextOf({ steps }: Schemas['ToldStory']): number {
    // A snapshot may have taken the story back.
    return Math.min(this.#returned, steps.filter(({ state }) => state === 'done').length);
  }

  async #told(): Promise<Schemas['ToldStory']> {
    return bodyOf(this.console.GET('/console/api/story'));
  }
}
