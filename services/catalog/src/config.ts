import { EGRESS_VARIABLES } from '@backoffice/outbound/egress-variables.ts'
import { AssetsUrl } from '@backoffice/runtime/asset-url.ts'
import { Switch } from '@backoffice/runtime/config.ts'
import { serviceConfig } from '@backoffice/service/service-config.ts'
import type { FileStorage } from '@backoffice/storage/file-storage.ts'
import { openStorage } from '@backoffice/storage/open-storage.ts'
import { S3_SERVER, StoredBytes } from '@backoffice/storage/storage-settings.ts'
import { z } from 'zod'

/** The settings of the catalog. Files are in the bucket, else in the directory. */
export const CatalogConfig = serviceConfig('catalog')
  .extend({
    ASSETS_URL: AssetsUrl,
    ASSETS_DIRECTORY: z
      .string()
      .optional()
      .describe(
        'The directory of assets, which all replicas share. Everybody can read its files by their URLs: nothing else may be in it. Required without `S3_BUCKET`.',
      ),
    S3_BUCKET: z.string().optional().describe('The bucket of assets, instead of the directory, and as public.'),
    ...S3_SERVER,
    IMAGES_ALLOW_LOOPBACK: Switch.describe(
      'Allows images of imports over http on loopback: for the local stack only (OP-281).',
    ),
    ...EGRESS_VARIABLES,
    STORED_BYTES_PER_WORKSPACE: StoredBytes.describe('The most bytes that the assets of a workspace may have.'),
  })
  .refine(({ ASSETS_DIRECTORY, S3_BUCKET }) => ASSETS_DIRECTORY ?? S3_BUCKET, {
    path: ['ASSETS_DIRECTORY'],
    message: 'is missing, and S3_BUCKET too; one of them must say where files are kept',
  })

/** Opens the storage of assets. */
export const assetStorage = (config: z.output<typeof CatalogConfig>): FileStorage =>
  openStorage({ name: 'assets', directory: config.ASSETS_DIRECTORY, bucket: config.S3_BUCKET }, config)
