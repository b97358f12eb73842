import type { Field } from '../parts/edit.tsx'
import type { Texts } from '../parts/save-typed.ts'
import type { Endpoint } from './endpoints.ts'
import { EventPicker } from './event-picker.tsx'

type Members = Pick<Endpoint, 'url' | 'description' | 'enabled_events' | 'standard_signature'>

/** A new endpoint, before somebody says what it is. */
export const NEW: Members = { url: '', description: null, enabled_events: ['*'], standard_signature: false }

const SIGNATURES = [
  ['false', 'hexadecimal'],
  ['true', 'hexadecimal and Standard Webhooks'],
] as const

export const signatureOf = ({ standard_signature }: Members): string => SIGNATURES[standard_signature ? 1 : 0][1]

const eventsOf = (text: string): string[] => text.split(' ').filter(Boolean)

/** The members of an endpoint that somebody sets. */
export const fieldsOf = (endpoint: Members): readonly Field[] => [
  {
    name: 'url',
    label: 'URL',
    value: endpoint.url,
    input: { type: 'url', required: true, maxLength: 2048, placeholder: 'https://shop.example.com/webhooks' },
  },
  {
    name: 'description',
    label: 'Description',
    value: endpoint.description ?? '',
    input: { maxLength: 65_536, placeholder: 'Stock sync' },
  },
  {
    name: 'enabled_events',
    label: 'Events',
    value: endpoint.enabled_events.join(' '),
    typer: (text, onText) => <EventPicker value={eventsOf(text)} onChange={(events) => onText(events.join(' '))} />,
  },
  {
    name: 'standard_signature',
    label: 'Signature',
    value: String(endpoint.standard_signature),
    options: SIGNATURES,
    hint: 'The libraries of Standard Webhooks ask for theirs.',
  },
]

/** The texts of a form as members. Throws what is wrong with them. */
export function membersOf({ url, description, enabled_events, standard_signature }: Texts): Partial<Members> {
  if (enabled_events === '') throw new Error('Choose an event at least.')
  return {
    ...(url !== undefined && { url }),
    ...(description !== undefined && { description: description.trim() || null }),
    ...(enabled_events !== undefined && { enabled_events: eventsOf(enabled_events) }),
    ...(standard_signature !== undefined && { standard_signature: standard_signature === 'true' }),
  }
}
