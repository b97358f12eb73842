import { z } from 'zod'
import { ERROR_STATUS, type ErrorCode, type ErrorReason, reasonsOf } from './errors.ts'
import { Id } from './fields.ts'
import { namedObject } from './named.ts'

const CODES = Object.keys(ERROR_STATUS) as ErrorCode[]
const REASONS: ErrorReason[] = [...new Set(CODES.flatMap(reasonsOf))]

/**
 * What became of a row of a batch: its resource, or the error that the single operation has for it, with its reason
 * (OP-265, OP-276).
 */
export const BatchResult = namedObject('BatchResult', {
  status: z.enum(['created', 'updated', 'unchanged', 'failed']),
  id: Id.nullable(),
  error: z
    .strictObject({
      code: z.enum(CODES),
      message: z.string(),
      request_id: z.string(),
    })
    .nullable(),
  error_reason: z.enum(REASONS).nullable(),
})
export type BatchResult = z.output<typeof BatchResult>

/** The results of a batch, in the order of its rows. */
export const BatchResults = namedObject(
  'BatchResults',
  { results: z.array(BatchResult) },
  {
    results: [
      { status: 'created', id: '0198c7a0-0000-7000-8000-000000000001', error: null, error_reason: null },
      {
        status: 'failed',
        id: null,
        error: {
          code: 'bad_request',
          message: 'name: is required',
          request_id: '9b2d7e34-5c1f-4a86-b0d3-6e8f1a2c4d5e',
        },
        error_reason: 'invalid_request',
      },
    ],
  },
)
