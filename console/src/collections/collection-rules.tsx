import { useState } from 'react'
import { api, bodyOf } from '../api/client.ts'
import { Act, ApiAct } from '../parts/action.tsx'
import { Section } from '../parts/page.tsx'
import type { Collection } from './collection.tsx'
import { RuleEditor } from './rule-editor.tsx'
import { conditionText } from './rules.ts'

interface CollectionRulesProps {
  readonly collection: Collection
  readonly tag: string
}

/** What gathers the products: the rules in words, or the picking by hand. */
export function CollectionRules({ collection, tag }: CollectionRulesProps) {
  const [isEditing, setIsEditing] = useState<boolean>()
  const { id, membership_type, rules, is_gathering } = collection
  const isSmart = membership_type === 'SMART'
  const params = { path: { handle: id } }
  if (isEditing) return <RuleEditor of={{ body: collection, tag }} onClose={() => setIsEditing(false)} />
  return (
    <Section
      title="What is in it"
      isFocused={isEditing === false}
      actions={
        <>
          <Act needs="product::update" onAct={() => setIsEditing(true)}>
            {isSmart ? 'Edit rules' : 'Gather by rules'}
          </Act>
          {isSmart && (
            <ApiAct
              needs="product::update"
              question="Pick products by hand instead? Those that were picked before come back; the rules are kept."
              act={() => bodyOf(api.PUT('/v1/collections/{handle}', { params, body: { membership_type: 'MANUAL' } }))}
              done="Products are picked by hand now."
              changes={['collections']}
            >
              Pick by hand
            </ApiAct>
          )}
        </>
      }
    >
      {isSmart && rules ? (
        <>
          <p>Products of which {rules.match === 'all' ? 'all of this is so' : 'any of this is so'}:</p>
          <ul>
            {rules.conditions.map((condition, index) => (
              <li key={index} className="long">
                {conditionText(condition)}
              </li>
            ))}
          </ul>
        </>
      ) : (
        <p>Its products are picked by hand.</p>
      )}
      {is_gathering && <p role="status">The products are being gathered anew…</p>}
    </Section>
  )
}
