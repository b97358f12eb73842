import { z } from 'zod'
import { HttpUrl, readConfig } from './config.ts'

/** The setting of services whose answers have URLs of stored files. */
export const AssetsUrl = HttpUrl.describe(
  "The URL that those of stored files begin with: the gateway's `/assets`, or a CDN before it (OP-18).",
)

let base: string | undefined

/** The URL of a stored file (OP-18). The setting is read here, since many places build bodies with URLs. */
export function assetUrl(path: string): string {
  base ??= readConfig(z.object({ ASSETS_URL: AssetsUrl })).ASSETS_URL.replace(/\/$/, '')
  return `${base}/${path}`
}
