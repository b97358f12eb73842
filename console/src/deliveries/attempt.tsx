import type { components } from '../api/client.ts'
import { Facts, Section } from '../parts/page.tsx'
import { Json, Long, Time } from '../parts/text.tsx'
import { adviceOn, outcomeOf } from './advice.ts'

export type Attempt = components['schemas']['DeliveryAttempt']

/** The newest attempt: what was answered, what to do about it, and what was sent. */
export const NewestAttempt = ({ attempt }: { readonly attempt: Attempt }) => (
  <Section title={`Attempt ${attempt.number}`}>
    {attempt.error && <p className="notice">{adviceOn(attempt.error.class, attempt.response?.status)}</p>}
    <AttemptFacts attempt={attempt} />
  </Section>
)

/** The attempts before, newest first. */
export const EarlierAttempts = ({ attempts }: { readonly attempts: readonly Attempt[] }) => (
  <Section title="Earlier attempts">
    {attempts.map((attempt) => (
      <details key={attempt.number}>
        <summary>
          Attempt {attempt.number}: {answerOf(attempt)}, <Time at={attempt.at} />
        </summary>
        <div className="stack">
          <AttemptFacts attempt={attempt} />
        </div>
      </details>
    ))}
  </Section>
)

const answerOf = ({ response, error }: Attempt) => outcomeOf(response?.status ?? null, error?.class ?? null)

function AttemptFacts({ attempt }: { readonly attempt: Attempt }) {
  const { at, duration_ms, request, response, error } = attempt
  return (
    <>
      <Facts
        of={{
          Answer: answerOf(attempt),
          Took: `${duration_ms.toLocaleString()} ms`,
          At: <Time at={at} />,
          // The status says it already.
          Error: error && error.class !== 'status' ? <Long text={error.message} /> : undefined,
          To: <Long text={request.url} />,
        }}
      />
      {response && (
        <details>
          <summary>What the endpoint answered</summary>
          <HeadersAndBody {...response} />
        </details>
      )}
      <details>
        <summary>What was sent</summary>
        <HeadersAndBody {...request} />
      </details>
    </>
  )
}

const HeadersAndBody = ({ headers, body, truncated }: Pick<Attempt['request'], 'headers' | 'body' | 'truncated'>) => (
  <div className="stack">
    <Json
      value={Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n')}
    />
    {body === '' ? <p className="quiet">No body.</p> : <Json value={body} />}
    {truncated && <p className="quiet">Only the beginning of the body is kept.</p>}
  </div>
)
