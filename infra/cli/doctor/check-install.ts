import { ask } from './ask.ts'
import { type Examined, expectEither, expectRefusal, expectSuccess, type Finding } from './finding.ts'
import { forgedTokens, provisionClaims, signedToken } from './sign.ts'

const newToken = ({ installation, key }: Examined) =>
  `Bearer ${signedToken(provisionClaims(installation), key.privateKey)}`

const post = (origin: string, path: string, authorization: string | undefined, body: object) =>
  ask({
    method: 'POST',
    url: new URL(path, origin),
    headers: authorization === undefined ? {} : { authorization },
    body: JSON.stringify(body),
  })

const deliver = ({ origin, manifest, installation }: Examined, authorization: string | undefined) =>
  post(origin, '/install/provision', authorization, {
    apiKey: installation.apiKey,
    ...(manifest.webhooks && { webhookSecret: installation.webhookSecret }),
  })

const uninstall = ({ origin, installation }: Examined, authorization: string | undefined) =>
  post(origin, '/install/uninstall', authorization, {
    workspace: installation.workspaceId,
    provider: installation.provider,
    reason: 'app doctor',
    uninstalled_at: new Date().toISOString(),
  })

/** POST /install/provision (App rule 1; OP-81, OP-82). The app is installed afterwards. */
export async function checkProvision(app: Examined): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [what, authorization] of forgedTokens(provisionClaims(app.installation), app.key.privateKey, 'session')) {
    findings.push(expectRefusal(`provision refuses ${what}`, await deliver(app, authorization)))
  }
  const token = newToken(app)
  findings.push(
    expectSuccess('provision accepts the key', await deliver(app, token)),
    expectSuccess('provision accepts the same key again, with a new token', await deliver(app, newToken(app))),
    expectEither('provision refuses a token that was used, or does the same again', await deliver(app, token)),
  )
  return findings
}

/** POST /install/uninstall (OP-84). The app is not installed afterwards. */
export async function checkUninstall(app: Examined): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [what, authorization] of forgedTokens(provisionClaims(app.installation), app.key.privateKey, 'session')) {
    findings.push(expectRefusal(`uninstall refuses ${what}`, await uninstall(app, authorization)))
  }
  findings.push(
    expectSuccess('uninstall is accepted', await uninstall(app, newToken(app))),
    expectSuccess('uninstall is accepted again, with a new token', await uninstall(app, newToken(app))),
  )
  return findings
}
