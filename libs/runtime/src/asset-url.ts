import { z } from 'zod'
import { readConfig } from './config.ts'

/** Read here and not in main.ts, since many places build bodies with URLs. */
const { ASSETS_URL } = readConfig(z.object({ ASSETS_URL: z.url().default('http://localhost:8080/assets') }))

/** The URL of a stored file: its path under the base URL, the gateway's `/assets` or a CDN before it (OP-18). */
export const assetUrl = (path: string): string => `${ASSETS_URL.replace(/\/$/, '')}/${path}`
