// eslint-disable-next-line @typescript-eslint/triple-slash-reference -- declares modules, and exports nothing
/// <reference path="./css.d.ts" preserve="true" />
/** The API that the shell offers slices, apart from UI parts (`mfe-kit/ui…`). */
export { ApiError, type ApiErrorKind } from './failures/api-error';
export { api, dataOf, listOf } from './api/client';
export { amountFrom, numberFrom, textFrom, timeFrom } from './api/wire';
export { type Schema } from './api/schema';
export { now } from './clock/clock';
export { useToday } from './clock/useToday';
export { connection } from './connection/connection';
export { useIsOnline } from './connection/useIsOnline';
export { failureMessage, type FailureTexts, failureText } from './failures/failures';
export { currentUserQuery } from './account/current-user';
export {
  changedSince,
  followPreferences,
  orNull,
  preferencesOf,
  preferencesQuery,
} from './account/preferences';
export { displayName, initialOf, type Role, ROLES, type SessionUser } from './session/session-user';
export { session, type SessionState } from './session/session';
export { endSession, signOut } from './account/sign-out';
export { useDraft } from './session/useDraft';
export { useSession } from './session/useSession';
export { formatDate, formatDateTime, formatLongDate, formatMonthAndYear, formatYear } from './format/dates';
export { startOfDate, startOfDay } from './format/days';
export { isolated } from './format/isolated';
export { formatMoney } from './format/money';
export { formatNumber, wholeNumberIn } from './format/number';
export { bareNumber, groupDigits, localPhone, sentPhone } from './format/phone';
export { searched } from './format/searched';
export { relativeTime } from './format/relative-time';
export { catalogue, type Language, language, LANGUAGES, plural } from './language/language';
export { notify, dismissNotification, type ShowNotification } from './notify/notify';
export { refusalSentences, type RefusalSentence } from './payouts/advice';
export { payoutStatus, type PayoutStatus } from './payouts/payout-status';
export { queryClient } from './query/query-client';
export { queryKeys } from './query/query-keys';
export {
  isLive,
  portalSettings,
  portalTimeZone,
  setPortalSettings,
  type PortalSettings,
} from './slice/portal-settings';
export { type Slice } from './slice/slice';
export { tabTitle } from './slice/tab-title';
export { saveFile } from './storage/save-file';
export { storage } from './storage/storage';
export { type Act, type ActName, acts } from './trace/act';
export { screenAct } from './trace/screen-act';
export { type Theme, theme } from './theme/theme';
export { useTheme } from './theme/useTheme';
