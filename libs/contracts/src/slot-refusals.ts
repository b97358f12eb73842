import { ApiError } from './errors.ts'

/** Why a request gets no slot: its owner asks for more than its share, or all owners together ask for too much. */
type Why = 'owner' | 'all'

/** `rate_limited` for an owner beyond its share, else `service_unavailable`; try again after a second (OP-161). */
export const slotRefusals =
  (messages: Readonly<Record<Why, string>>) =>
  (why: Why): ApiError =>
    new ApiError(why === 'owner' ? 'rate_limited' : 'service_unavailable', messages[why], {
      headers: { 'retry-after': '1' },
    })
