import type { StoryTexts } from './story-texts';

const swahili: StoryTexts = {
  opening: 'Inafungua sandbox…',
  notOpened: 'Sandbox haikuweza kufunguliwa',
  noEntry: 'Anwani hii haielekezi tena kwenye sandbox.',
  signIn: 'Ingia',
  tryAgain: 'Jaribu tena',
  enterAgain: 'Ingia tena kwenye sandbox',

  story: 'Hadithi',
  progress: (step, of) => `Hadithi, hatua ya ${step} kati ya ${of}`,
  finished: 'Hadithi, imekamilika',
  done: 'Imekamilika',
  stepDone: (step, say) => `Hatua ya ${step} imekamilika: ${say}`,
  doIt: 'Fanya',
  keep: 'Hifadhi kwa siku 7',
  take: 'Chukua nakala',
  startAgain: 'Anza upya',
  endsAt: (time) => `Sandbox hii ipo hadi ${time}.`,
  kept: 'Sandbox imehifadhiwa kwa siku 7.',
  begunAgain: 'Hadithi inaanza upya.',
  comeBack: 'Rudi baadaye',
  comeBackText: 'Hifadhi anwani yako: ukishatoka, inakuingiza tena kwenye sandbox hii.',
  yours: 'Yako',
  copyOwn: 'Nakili anwani yako',
  invite: 'Alika wengine',
  inviteText: 'Anayefungua mojawapo ya anwani hizi huingia kwenye sandbox hii.',
  copyAddress: (role) => `Nakili anwani ya ${role}`,
  roles: { admin: 'Msimamizi mkuu', agent: 'Wakala', supervisor: 'Msimamizi' },

  againTitle: 'Uanze hadithi upya?',
  againText:
    'Yote yaliyotokea kwenye sandbox hii yatapotea, na wengine wote waliomo watalazimika kuingia tena.',
  cancel: 'Ghairi',

  notDone: 'Hatua haikufanyika',
  notKept: 'Sandbox haikuhifadhiwa',
  notTaken: 'Faili haikupakuliwa',
  notBegun: 'Hadithi haikuanza upya',
  notRead: 'Hadithi haikuweza kusomwa. Inajaribiwa tena kila baada ya sekunde chache.',
  gone: 'Sandbox hii haipo tena: muda wake umeisha, au iliondolewa.',
  noAnswer: 'Tovuti haikuweza kufikiwa. Angalia mtandao wako, kisha ujaribu tena.',
  failed: 'Kuna hitilafu. Jaribu tena baada ya dakika moja.',
};

export default swahili;
