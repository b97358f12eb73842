import { HttpUrl } from '@backoffice/runtime/config.ts'
import { z } from 'zod'
import { STORED_BYTES } from './stored-bytes.ts'

/** The settings of the server that has the buckets. */
export const S3_SERVER = {
  S3_ENDPOINT: HttpUrl.optional().describe("The URL of a server with the S3 protocol; Amazon's unless set."),
  S3_REGION: z.string().default('us-east-1').describe('The region of the bucket.'),
  AWS_ACCESS_KEY_ID: z
    .string()
    .optional()
    .describe(
      "The id of the key for the bucket. Unless set, the AWS SDK looks for credentials, such as a role's token.",
    ),
  AWS_SECRET_ACCESS_KEY: z.string().optional().describe('The secret of that key.').meta({ secret: true }),
  AWS_SESSION_TOKEN: z
    .string()
    .optional()
    .describe('The token of that key, when it is a temporary one.')
    .meta({ secret: true }),
}

export type S3Server = z.output<z.ZodObject<typeof S3_SERVER>>

/** The setting of the bytes that a workspace may store, which each service describes. */
export const StoredBytes = z.coerce.number().int().positive().default(STORED_BYTES)
