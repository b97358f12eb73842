import { randomBytes, randomUUID } from 'node:crypto'
import { appTokens } from '../../../services/apps/src/tokens/app-tokens.ts'
import { newSigningKey } from '../../../services/webhook-delivery/src/secrets/signing-secret.ts'
import { checkCheckout } from './check-checkout.ts'
import { checkEmbed } from './check-embed.ts'
import { checkProvision, checkUninstall } from './check-install.ts'
import { checkForgotten, checkWebhooks } from './check-webhooks.ts'
import type { Examined, Finding } from './finding.ts'

/**
 * Installs an app in a workspace that does not exist, tries what the platform expects of it, and uninstalls it (App
 * rules; OP-80 to OP-85). The app must trust `key` and `issuer`. The key that it is given works nowhere.
 */
export async function examineApp(app: Pick<Examined, 'origin' | 'manifest' | 'key' | 'issuer'>): Promise<Finding[]> {
  const { manifest } = app
  const workspaceId = randomUUID()
  const workspace = { workspace_id: workspaceId, workspace_name: 'App doctor', workspace_domain: null }
  const subject = { ...workspace, app_manifest: manifest, manifest }
  const tokens = appTokens([app.key], app.issuer)
  const examined: Examined = {
    ...app,
    workspaceId,
    apiKey: `sk_test_${randomBytes(24).toString('hex')}`,
    webhookKey: newSigningKey(),
    async tokenHeaders(purpose) {
      const { token } = await tokens[purpose](subject, new Date())
      return { authorization: `Bearer ${token}` }
    },
  }
  const findings: Finding[] = []
  for (const check of [checkProvision, checkEmbed, checkWebhooks, checkCheckout, checkUninstall, checkForgotten]) {
    findings.push(...(await check(examined)))
  }
  return findings
}
