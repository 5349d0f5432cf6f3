import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './notice.module.css'

/** There is nothing to show: why, and what to do about it. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={classes.notice}>
      <Text fw={600} size="sm">
        {title}
      </Text>
      {children !== undefined && (
        <Text size="sm" c="dimmed" component="div" mt={4}>
          {children}
        </Text>
      )}
    </div>
  )
}
