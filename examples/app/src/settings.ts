import { z } from 'zod'

const Settings = z
  .object({
    /** The platform's address, without `/v1`. It serves the API and the public keys, and its pages frame the embed. */
    PLATFORM_URL: z.url(),
    /** The `iss` of the platform's tokens, when it is not PLATFORM_URL. */
    PLATFORM_ISSUER: z.string().min(1).optional(),
    /** The platform's public key, when you pin it instead of reading its JWK set. */
    PLATFORM_PEM: z.string().optional(),
    /** Encrypts the credentials: base64 of 32 random bytes (`openssl rand -base64 32`). */
    APP_ENCRYPTION_KEY: z.string(),
    /** The app's provider; that of its draft, while it is one. */
    PROVIDER: z.string().min(1).default('example-pay'),
    PORT: z.coerce.number().int().default(9998),
    /** Where browsers and the platform reach this app. */
    PUBLIC_URL: z.url().optional(),
    /** The file of the database. */
    DATABASE: z.string().default('payments.db'),
  })
  .transform((settings) => ({
    ...settings,
    PLATFORM_ISSUER: settings.PLATFORM_ISSUER ?? settings.PLATFORM_URL,
    PUBLIC_URL: settings.PUBLIC_URL ?? `http://127.0.0.1:${settings.PORT}`,
  }))
export type Settings = z.output<typeof Settings>

/** Reads the environment. Throws with the names of what is missing; never with a value. */
export function readSettings(environment: NodeJS.ProcessEnv): Settings {
  const { data, error } = Settings.safeParse(environment)
  if (error) throw new Error(`the settings are not complete:\n${z.prettifyError(error)}`)
  return data
}
