import { z } from 'zod'
import { readConfig } from './config.ts'

/** Read here and not in main.ts: bodies with URLs are built wherever a product changes. */
const { ASSETS_URL } = readConfig(z.object({ ASSETS_URL: z.url().default('http://localhost:8080/assets') }))

/** Where a stored file is served: its path under the base URL, which is the gateway's `/assets` or a CDN before it (OP-18). */
export const assetUrl = (path: string): string => `${ASSETS_URL.replace(/\/$/, '')}/${path}`
