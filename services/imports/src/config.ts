import { serviceConfig } from '@backoffice/service/service-config.ts'
import type { FileStorage } from '@backoffice/storage/file-storage.ts'
import { openStorage } from '@backoffice/storage/open-storage.ts'
import { STORED_BYTES } from '@backoffice/storage/stored-bytes.ts'
import { z } from 'zod'

/** The settings of imports. Files are in the bucket, else in the directory. */
export const ImportsConfig = serviceConfig('imports')
  .extend({
    /** Signs the token of calls to the services that own the templates: base64 DER PKCS8. */
    INTERNAL_TOKEN_PRIVATE_KEY: z.base64(),
    /** Files of imports hold personal data: never the directory of assets, which everybody can read. */
    IMPORTS_DIRECTORY: z.string().optional(),
    /** Never the bucket of assets. It has a name of its own, because services may share an environment. */
    IMPORTS_S3_BUCKET: z.string().optional(),
    S3_ENDPOINT: z.url().optional(),
    S3_REGION: z.string().default('us-east-1'),
    /** The most that the files of a workspace may have, those of its reports included. */
    STORED_BYTES_PER_WORKSPACE: z.coerce.number().int().positive().default(STORED_BYTES),
  })
  .refine(({ IMPORTS_DIRECTORY, IMPORTS_S3_BUCKET }) => IMPORTS_DIRECTORY ?? IMPORTS_S3_BUCKET, {
    path: ['IMPORTS_DIRECTORY'],
    message: 'is missing, and IMPORTS_S3_BUCKET too; one of them must say where files are kept',
  })

/** Opens the storage of imported files and of reports. */
export const importStorage = (config: z.output<typeof ImportsConfig>): FileStorage =>
  openStorage({
    name: 'imports',
    directory: config.IMPORTS_DIRECTORY,
    bucket: config.IMPORTS_S3_BUCKET,
    endpoint: config.S3_ENDPOINT,
    region: config.S3_REGION,
  })
