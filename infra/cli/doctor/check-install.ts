import { signingSecretOf } from '../../../services/webhook-delivery/src/secrets/signing-secret.ts'
import { ask, type RequestHeaders } from './ask.ts'
import { type Examined, expectEither, expectSuccess, type Finding } from './finding.ts'
import { checkForgedTokens } from './forged-tokens.ts'

/** POST /install/provision (App rule 1; OP-81, OP-82). The app is installed afterwards. */
export async function checkProvision(app: Examined): Promise<Finding[]> {
  const body = {
    apiKey: app.apiKey,
    ...(app.manifest.webhooks && { webhookSecret: signingSecretOf(app.webhookKey) }),
  }
  const url = new URL('/install/provision', app.origin)
  const provision = (headers: RequestHeaders) => ask(url, JSON.stringify(body), headers)
  const refusals = await checkForgedTokens(app, 'provision', 'provision', provision)
  const headers = await app.tokenHeaders('provision')
  return [
    ...refusals,
    expectSuccess('provision accepts the key', await provision(headers)),
    expectSuccess(
      'provision accepts the same key again, with a new token',
      await provision(await app.tokenHeaders('provision')),
    ),
    expectEither('provision refuses a token that was used, or does the same again', await provision(headers)),
  ]
}

/** POST /install/uninstall (OP-84). The app is not installed afterwards. */
export async function checkUninstall(app: Examined): Promise<Finding[]> {
  const body = { workspace: app.workspaceId, provider: app.manifest.provider, reason: 'app doctor' }
  const url = new URL('/install/uninstall', app.origin)
  const uninstall = (headers: RequestHeaders) =>
    ask(url, JSON.stringify({ ...body, uninstalled_at: new Date().toISOString() }), headers)
  const uninstallAnew = async () => uninstall(await app.tokenHeaders('provision'))
  return [
    ...(await checkForgedTokens(app, 'uninstall', 'provision', uninstall)),
    expectSuccess('uninstall is accepted', await uninstallAnew()),
    expectSuccess('uninstall is accepted again, with a new token', await uninstallAnew()),
  ]
}
