import type { Refusals } from './refusals';

const swahili: Refusals = {
  account_inactive: 'Akaunti yako haitumiki. Tafadhali wasiliana na msaada.',
  already_disbursed: 'Mkopo huu umeshatolewa.',
  amount_above_maximum: 'Kiasi hiki kinazidi kiwango cha juu cha malipo.',
  amount_mismatch: 'Kiasi hakilingani na cha mkopo.',
  body_too_large: 'Ombi ni kubwa mno.',
  body_too_slow: 'Ombi lilichelewa kutufikia. Jaribu tena.',
  busy: 'Huduma ina shughuli nyingi. Jaribu tena baada ya muda mfupi.',
  code_required: 'Akaunti hii inahitaji msimbo pamoja na nenosiri.',
  idempotency_key_in_use: 'Malipo haya bado yanashughulikiwa.',
  idempotency_key_reused: 'Ombi hili si sawa na lililotangulia.',
  in_progress: 'Malipo ya mkopo huu yanaendelea.',
  invalid_code: 'Msimbo si sahihi au muda wake umekwisha.',
  invalid_password: 'Nenosiri si sahihi.',
  invalid_request: 'Taarifa ulizoandika si sahihi. Ziangalie, kisha jaribu tena.',
  loan_not_found: 'Mkopo haukupatikana.',
  no_entry: 'Anwani hii haielekezi tena kwenye sandbox.',
  no_session: 'Kipindi chako kimekwisha. Tafadhali ingia tena.',
  no_story: 'Sandbox hii haina hadithi.',
  not_approved: 'Mkopo huu haujaidhinishwa.',
  not_found: 'Haikupatikana.',
  not_known:
    'Kumetokea hitilafu upande wetu, na haijulikani kama ombi lilitekelezwa. Fungua ukurasa upya ili ujue.',
  password_too_easy: 'Nenosiri ni rahisi kukisia. Chagua jingine.',
  password_too_short: 'Nenosiri ni fupi mno.',
  phone_mismatch: 'Nambari ya simu hailingani na ya mteja.',
  provider_answer: 'Mfumo wa mikopo haukujibu ipasavyo.',
  provider_away: 'Mfumo wa mikopo haupatikani.',
  provider_broke: 'Mfumo wa mikopo umepata hitilafu.',
  provider_slow: 'Mfumo wa mikopo haukujibu kwa wakati.',
  role_not_allowed: 'Wadhifa wako hauruhusu hili.',
  session_not_found: 'Kipindi hakikupatikana.',
  sum_too_large: 'Jumla ni kubwa mno kuonyeshwa. Chagua kipindi kifupi zaidi.',
  took_too_long: 'Seva haikujibu kwa wakati.',
  too_many_requests: ({ retryAfterSeconds }) =>
    `Umejaribu mara nyingi mno. Jaribu tena ${waitOf(retryAfterSeconds)}.`,
  user_not_found: 'Akaunti haikupatikana.',
};

function waitOf(seconds: number | undefined) {
  if (seconds === undefined) return 'baadaye';
  const wait = new Intl.RelativeTimeFormat('sw');
  return seconds < 60 ? wait.format(seconds, 'second') : wait.format(Math.ceil(seconds / 60), 'minute');
}

export default swahili;
