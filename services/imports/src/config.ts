import { serviceConfig } from '@backoffice/service/service-config.ts'
import type { FileStorage } from '@backoffice/storage/file-storage.ts'
import { openStorage } from '@backoffice/storage/open-storage.ts'
import { S3_SERVER, StoredBytes } from '@backoffice/storage/storage-settings.ts'
import { z } from 'zod'

/** The settings of imports. Files are in the bucket, else in the directory. */
export const ImportsConfig = serviceConfig('imports')
  .extend({
    IMPORTS_DIRECTORY: z
      .string()
      .optional()
      .describe(
        'The directory of imported files and reports, which all replicas share. They hold personal data: never the directory of assets, which everybody can read. Required without `IMPORTS_S3_BUCKET`.',
      ),
    // It has a name of its own, because services may share an environment.
    IMPORTS_S3_BUCKET: z
      .string()
      .optional()
      .describe('The bucket of imported files and reports, instead of the directory: never that of assets.'),
    ...S3_SERVER,
    STORED_BYTES_PER_WORKSPACE: StoredBytes.describe(
      'The most bytes that the files of a workspace may have, those of its reports included.',
    ),
  })
  .refine(({ IMPORTS_DIRECTORY, IMPORTS_S3_BUCKET }) => IMPORTS_DIRECTORY ?? IMPORTS_S3_BUCKET, {
    path: ['IMPORTS_DIRECTORY'],
    message: 'is missing, and IMPORTS_S3_BUCKET too; one of them must say where files are kept',
  })

/** Opens the storage of imported files and of reports. */
export const importStorage = (config: z.output<typeof ImportsConfig>): FileStorage =>
  openStorage({ name: 'imports', directory: config.IMPORTS_DIRECTORY, bucket: config.IMPORTS_S3_BUCKET }, config)
