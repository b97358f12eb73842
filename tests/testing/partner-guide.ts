import { readFileSync } from 'node:fs'

const document = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')

/** The guide for partners. */
export const guide = document('webhooks.md')

/** The guide for authors of apps. */
export const appsGuide = document('apps.md')

/** The first steps to a receiver, in each language. */
export const quickstart = document('quickstart.md')

/** The text below a heading, such as `### Go`, as far as the next heading. */
export const below = (heading: string, text: string): string =>
  text.split(`\n${heading}\n`)[1]?.split(/^##+ /m)[0] ?? ''

/** The code blocks of a guide in a language, in order; of the one for partners unless given. */
export const blocks = (language: string, text = guide): string[] =>
  [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(([, fenced]) => fenced === language)
    .map(([, , code = '']) => code)

/** The test vector of OP-62. */
export const VECTOR = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: '1614265330',
  body: '{"test": 2432232314}',
  signature: 'v1,83484cf52b04f8e4cf2531adfed9882ad4b2665137b852442d594d20e2c9d4e1',
}
