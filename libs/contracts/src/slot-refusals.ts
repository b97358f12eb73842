import { ApiError } from './errors.ts'

/** `rate_limited` for an owner beyond its share, otherwise `service_unavailable`: both with Retry-After 1 (OP-161). */
export const slotRefusals =
  (messages: Readonly<Record<'owner' | 'all', string>>) =>
  (why: 'owner' | 'all'): ApiError =>
    why === 'owner'
      ? new ApiError('rate_limited', messages.owner, { errorReason: 'too_many_at_once' })
      : new ApiError('service_unavailable', messages.all)
