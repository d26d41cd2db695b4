/** What the shell offers a slice, apart from the parts to draw with (`mfe-kit/ui…`). */
export { ApiError, type ApiErrorKind } from './api/api-error';
export { api, dataOf, type Schema } from './api/client';
export { currentUserQuery } from './session/current-user';
export { displayName, initialOf, type Role, ROLES, type SessionUser } from './session/session-user';
export { session, type SessionState } from './session/session';
export { signOut } from './session/sign-out';
export { useSession } from './session/useSession';
export { formatDate, formatDateTime, formatLongDate, formatMonthAndYear } from './format/dates';
export { formatMoney } from './format/money';
export { groupDigits, localPhone } from './format/phone';
export { relativeTime } from './format/relative-time';
export { notify, dismissNotification, type ShowNotification } from './notify/notify';
export { queryClient } from './query/query-client';
export { portalSettings, setPortalSettings, type PortalSettings } from './slice/portal-settings';
export { type Slice, type SliceRouteHandle } from './slice/slice';
export { type Theme, theme } from './theme/theme';
export { useTheme } from './theme/useTheme';
