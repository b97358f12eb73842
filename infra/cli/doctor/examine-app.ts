import { randomBytes, randomUUID } from 'node:crypto'
import type { AppManifest } from '@backoffice/contracts/app-manifest.ts'
import { checkCheckout } from './check-checkout.ts'
import { checkEmbed } from './check-embed.ts'
import { checkProvision, checkUninstall } from './check-install.ts'
import { checkForgotten, checkWebhooks } from './check-webhooks.ts'
import type { DoctorKey } from './doctor-keys.ts'
import type { Examined, Finding } from './finding.ts'

interface Examination {
  readonly origin: string
  readonly manifest: AppManifest
  readonly key: DoctorKey
  /** The `iss` that the app is configured with. */
  readonly issuer: string
}

/**
 * Installs an app in a workspace that does not exist, tries what the platform expects of it, and uninstalls it (App
 * rules; OP-80 to OP-85). The app must trust `key` and `issuer`. The key that it is given works nowhere.
 */
export async function examineApp({ origin, manifest, key, issuer }: Examination): Promise<Finding[]> {
  const examined: Examined = {
    origin,
    manifest,
    key,
    installation: {
      workspaceId: randomUUID(),
      provider: manifest.provider,
      audience: manifest.audience ?? manifest.provider,
      scopes: manifest.scopes,
      issuer,
      apiKey: `sk_test_${randomBytes(24).toString('hex')}`,
      webhookSecret: `whsec_${randomBytes(32).toString('base64')}`,
    },
  }
  const findings: Finding[] = []
  for (const check of [checkProvision, checkEmbed, checkWebhooks, checkCheckout, checkUninstall, checkForgotten]) {
    findings.push(...(await check(examined)))
  }
  return findings
}
