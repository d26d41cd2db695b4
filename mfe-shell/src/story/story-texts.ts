import { catalogue } from 'mfe-kit';

const english = {
  // Entering
  opening: 'Opening the sandbox…',
  notOpened: 'The sandbox could not be opened',
  noEntry: 'This address does not lead to a sandbox any more.',
  signIn: 'Sign in',
  tryAgain: 'Try again',
  enterAgain: 'Enter the sandbox again',

  // The card
  story: 'Story',
  progress: (step: number, of: number) => `Story, step ${step} of ${of}`,
  finished: 'Story, finished',
  done: 'Done',
  stepDone: (step: number, say: string) => `Step ${step} is done: ${say}`,
  doIt: 'Do it',
  keep: 'Keep for 7 days',
  take: 'Take it with me',
  startAgain: 'Start again',
  endsAt: (time: string) => `This sandbox exists until ${time}.`,
  kept: 'The sandbox is kept for 7 days.',
  begunAgain: 'The story begins again.',
  comeBack: 'Come back later',
  comeBackText: 'Keep your address: after signing out, it signs you in to this sandbox again.',
  yours: 'Yours',
  copyOwn: 'Copy your address',
  invite: 'Invite others',
  inviteText: 'Whoever opens one of these addresses is signed in to this sandbox.',
  copyAddress: (role: string) => `Copy the address for ${role}`,
  roles: { admin: 'Admin', agent: 'Agent', supervisor: 'Supervisor' },

  // Starting again
  againTitle: 'Start the story again?',
  againText: 'All that has happened in this sandbox is lost, and everybody else in it has to sign in again.',
  cancel: 'Cancel',

  // Failures
  notDone: 'The step was not done',
  notKept: 'The sandbox is not kept',
  notTaken: 'The file was not downloaded',
  notBegun: 'The story was not started again',
  notRead: 'The story could not be read. It is tried again every few seconds.',
  gone: 'This sandbox is gone: its time is over, or it was removed.',
  noAnswer: 'The portal could not be reached. Check your connection, then try again.',
  failed: 'Something went wrong. Try again in a minute.',
};

export type StoryTexts = typeof english;

export const storyTexts = catalogue(english, { sw: () => import('./story-texts-sw') });
