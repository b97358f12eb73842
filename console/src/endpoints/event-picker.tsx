import { useState } from 'react'
import { Answer } from '../parts/page.tsx'
import { useEventTypes } from './endpoints.ts'

interface EventPickerProps {
  /** Names of events, or `['*']`. */
  readonly value: readonly string[]
  readonly onChange: (value: readonly string[]) => void
}

/** Chooses the events that an endpoint gets: all of them, or some by what they are about. */
export function EventPicker({ value, onChange }: EventPickerProps) {
  const [words, setWords] = useState('')
  const types = useEventTypes()
  const isAll = value.includes('*')
  return (
    <fieldset className="stack">
      <legend>Events</legend>
      <label className="check">
        <input type="radio" name="events" checked={isAll} onChange={() => onChange(['*'])} />
        All events, and those that will come
      </label>
      <label className="check">
        <input type="radio" name="events" checked={!isAll} onChange={() => onChange([])} />
        Some events{!isAll && `: ${value.length} chosen`}
      </label>
      {!isAll && (
        <>
          <input
            type="search"
            aria-label="Find events"
            placeholder="Find events: order, paid …"
            value={words}
            onChange={({ target }) => setWords(target.value)}
          />
          <Answer of={types}>
            {(all) => (
              <Groups
                types={all.filter((type) => type.includes(words.trim().toLowerCase()))}
                value={value}
                onChange={onChange}
              />
            )}
          </Answer>
        </>
      )}
    </fieldset>
  )
}

/** What an event is about: `order` of `order.paid`. */
const subjectOf = (type: string) => type.slice(0, type.lastIndexOf('.'))

interface GroupsProps extends EventPickerProps {
  readonly types: readonly string[]
}

const Groups = ({ types, ...picked }: GroupsProps) =>
  types.length === 0 ? (
    <p className="quiet">No event has these letters in its name.</p>
  ) : (
    <div className="columns groups">
      {[...Map.groupBy(types, subjectOf)].map(([subject, ofSubject]) => (
        <Group key={subject} subject={subject} types={ofSubject} {...picked} />
      ))}
    </div>
  )

interface GroupProps extends GroupsProps {
  readonly subject: string
}

function Group({ subject, types, value, onChange }: GroupProps) {
  const chosen = new Set(value)
  const set = (changed: readonly string[], isOn: boolean) =>
    onChange(isOn ? [...new Set([...value, ...changed])] : value.filter((type) => !changed.includes(type)))
  return (
    <div>
      <label className="check">
        <input
          type="checkbox"
          checked={types.every((type) => chosen.has(type))}
          onChange={({ target }) => set(types, target.checked)}
        />
        {subject.replaceAll(/[._]/g, ' ')}
      </label>
      {types.map((type) => (
        <label key={type} className="check one">
          <input type="checkbox" checked={chosen.has(type)} onChange={({ target }) => set([type], target.checked)} />
          <code>{type}</code>
        </label>
      ))}
    </div>
  )
}
