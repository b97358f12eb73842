import { type Answer, ask } from './ask.ts'
import { type Examined, expectNothing, expectSuccess, type Finding, skipped } from './finding.ts'

/** The embed, as the platform's page frames it. */
export async function checkEmbed({ origin, manifest, issuer }: Examined): Promise<Finding[]> {
  const answer = await ask(new URL(manifest.embed, origin))
  const answers = expectSuccess('the embed answers', answer)
  const framed = 'the platform may frame the embed'
  if (answers.result === 'fail') return [answers, skipped(framed, 'the embed does not answer')]
  return [answers, expectNothing(framed, frameProblem(answer, issuer))]
}

/** Why a browser would not show the page in a frame of the platform; undefined when it would. */
export function frameProblem({ headers }: Pick<Answer, 'headers'>, platform: string): string | undefined {
  const policies = (headers.get('content-security-policy') ?? '').split(/[;,]/).map((directive) => directive.trim())
  const ancestors = policies.find((directive) => /^frame-ancestors\b/i.test(directive))
  if (ancestors !== undefined) {
    const sources = ancestors.split(/\s+/).slice(1)
    const { origin = platform, protocol = '' } = URL.parse(platform) ?? {}
    const isAllowed = sources.some((source) => source === '*' || source === protocol || source === origin)
    // A pattern such as https://*.example.com is left to the browser.
    return isAllowed || sources.some((source) => source.includes('*'))
      ? undefined
      : `its Content-Security-Policy says "${ancestors}", without ${origin}`
  }
  // A browser that finds frame-ancestors ignores X-Frame-Options.
  const options = headers.get('x-frame-options')
  return options === null ? undefined : `it answers X-Frame-Options: ${options}`
}
