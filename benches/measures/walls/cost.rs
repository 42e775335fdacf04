//! What each wall costs: the same scripts in engines with and without it, in turn.

use belljar_measures::walls::{Jar, SCRIPTS, Walls, fastest};
use tokio::runtime::Runtime;

const ROUNDS: usize = 15;
const WALLS: [Walls; 5] = [Walls::NONE, Walls::FUEL, Walls::EPOCHS, Walls::LIMITER, Walls::ALL];

pub(crate) fn measure(runtime: &Runtime) {
    let jars: Vec<Jar> = WALLS.into_iter().map(|walls| Jar::new(walls).unwrap()).collect();
    println!("What each wall costs, as a multiple of the time without any");
    let names: Vec<String> = WALLS.iter().skip(1).map(|walls| format!("{:>8}", walls.name)).collect();
    println!("{:40} {:>9} {}", "", "none, ms", names.join(" "));
    for (name, source) in SCRIPTS {
        let times = runtime.block_on(fastest(&jars, source, ROUNDS)).unwrap();
        let ratios: Vec<String> =
            times.iter().skip(1).map(|time| format!("{:>8.3}", time.as_secs_f64() / times[0].as_secs_f64())).collect();
        println!("{name:40} {:>9.2} {}", times[0].as_secs_f64() * 1e3, ratios.join(" "));
    }
    println!();
}
