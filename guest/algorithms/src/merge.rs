//! A stable merge sort that asks few questions, and believes every answer.

use std::cmp::Ordering;

/// The items in order. Whatever the answers, each item is there once. The work is `n log2 n`
/// questions at most, and fewer where the items are in order already, or the other way round.
pub fn sorted<T: Clone, E>(items: Vec<T>, mut compare: impl FnMut(&T, &T) -> Result<Ordering, E>) -> Result<Vec<T>, E> {
    let mut items = items;
    let mut runs = runs(&mut items, &mut compare)?;
    let mut merged = Vec::with_capacity(items.len());
    while runs.len() > 1 {
        merged.clear();
        let mut longer = Vec::with_capacity(runs.len().div_ceil(2));
        let mut rest = items.as_slice();
        for pair in runs.chunks(2) {
            let [left, right] = match *pair {
                [left, right] => [left, right],
                [left] => [left, 0],
                _ => break,
            };
            let (run, others) = rest.split_at(left.min(rest.len()));
            let (other, others) = others.split_at(right.min(others.len()));
            merge(run, other, &mut merged, &mut compare)?;
            rest = others;
            longer.push(left + right);
        }
        std::mem::swap(&mut items, &mut merged);
        runs = longer;
    }
    Ok(items)
}

/// The lengths of the runs that are in order already. Those that go down are turned.
fn runs<T, E>(items: &mut [T], compare: &mut impl FnMut(&T, &T) -> Result<Ordering, E>) -> Result<Vec<usize>, E> {
    let mut lengths = Vec::new();
    let mut rest = items;
    while let [first, second, ..] = &*rest {
        // What is equal must keep its order, so only what goes down at every step is turned.
        let goes_down = compare(second, first)?.is_lt();
        let mut length = 2;
        while let Some([last, next]) = rest.get(length - 1..=length)
            && compare(next, last)?.is_lt() == goes_down
        {
            length += 1;
        }
        let (run, others) = rest.split_at_mut(length.min(rest.len()));
        if goes_down {
            run.reverse();
        }
        lengths.push(length);
        rest = others;
    }
    if !rest.is_empty() {
        lengths.push(rest.len());
    }
    Ok(lengths)
}

fn merge<T: Clone, E>(
    left: &[T],
    right: &[T],
    merged: &mut Vec<T>,
    compare: &mut impl FnMut(&T, &T) -> Result<Ordering, E>,
) -> Result<(), E> {
    let (mut left, mut right) = (left, right);
    while let ([first, left_rest @ ..], [other, right_rest @ ..]) = (left, right) {
        if compare(other, first)?.is_lt() {
            merged.push(other.clone());
            right = right_rest;
        } else {
            merged.push(first.clone());
            left = left_rest;
        }
    }
    merged.extend_from_slice(left);
    merged.extend_from_slice(right);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted_by(items: Vec<u32>, key: impl Fn(u32) -> u32) -> (Vec<u32>, usize) {
        let mut questions = 0;
        let sorted = sorted(items, |left, right| {
            questions += 1;
            Ok::<_, ()>(key(*left).cmp(&key(*right)))
        });
        (sorted.unwrap(), questions)
    }

    #[test]
    fn the_order_is_right_and_stable_and_asked_for_sparingly() {
        for length in (0..70).chain([1_000]) {
            let items: Vec<u32> = (0..length).map(|item: u32| item.wrapping_mul(2_654_435_761) >> 22).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item % 100);
            let (found, questions) = sorted_by(items, |item| item % 100);
            assert_eq!(found, expected);
            assert!(questions <= (length * (length.max(2).ilog2() + 1)) as usize, "{questions} for {length}");
        }
    }

    #[test]
    fn what_is_in_order_or_upside_down_is_asked_for_once() {
        assert_eq!(sorted_by((0..1_000).collect(), |item| item), ((0..1_000).collect(), 999));
        assert_eq!(sorted_by((0..1_000).rev().collect(), |item| item), ((0..1_000).collect(), 999));
    }

    #[test]
    fn answers_that_contradict_each_other_lose_nothing() {
        let mut random = 1_u32;
        let found = sorted((0..1_000).collect(), |_: &u32, _| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Ok::<_, ()>(if random >> 31 == 0 { Ordering::Less } else { Ordering::Greater })
        });
        let mut found = found.unwrap();
        found.sort_unstable();
        assert_eq!(found, (0..1_000).collect::<Vec<_>>());
    }
}
